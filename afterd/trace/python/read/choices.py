"""What chooses among expressions as terms: ``a if b else c``, ``a and b``, ``a or b``.

Only what was evaluated is known. What another outcome of a test would have given is free, so whatever is proved about
the value then also proves the test.
"""

from __future__ import annotations

from typing import Protocol

from afterd.model.term import BOOL, Apply, Concrete, Free, Op, Term
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.program import Node
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.read.values import Unknown


class Builder(Protocol):
    """What choices need of the builder of terms."""

    def term(self, node: Node, position: int, frame: Frame, depth: int = ...) -> Term:
        """An operand."""
        ...

    def truth(self, term: Term, node: Node, position: int, frame: Frame, *, outcome: bool) -> Term:
        """The truth of an operand."""
        ...

    def outcome(self, node: Node, position: int, frame: Frame) -> bool | Unknown:
        """What a condition was."""
        ...

    def opaque(self, node: Node, position: int, frame: Frame, reason: str) -> Concrete:
        """What is not modelled."""
        ...


class Choices:
    """Builds choices for a builder of terms."""

    def __init__(self, builder: Builder, trace: Trace) -> None:
        self.builder = builder
        self.trace = trace

    def conditional(self, node: Node, position: int, frame: Frame, depth: int) -> Term:
        """The side that was taken, where the test is as it was."""
        taken = self.builder.outcome(node["test"], position, frame)
        if isinstance(taken, Unknown):
            return self.builder.opaque(node, position, frame, "a conditional expression")
        test = self.builder.term(node["test"], position, frame, depth)
        test = self.builder.truth(test, node["test"], position, frame, outcome=taken)
        chosen = self.builder.term(node["body" if taken else "orelse"], position, frame, depth)
        return _either(test, chosen, f"the other side of {node.source}", taken=taken)

    def boolean(self, node: Node, position: int, frame: Frame, depth: int) -> Term:
        """The last operand that was evaluated, where those before it are as they were, and so is it if it ended the
        evaluation.
        """
        evaluated = self._evaluated(node, position, frame)
        terms = [self.builder.term(part, position, frame, depth) for part in evaluated]
        if not terms:
            return self.builder.opaque(node, position, frame, "an operand that left no trace")
        conjunction = node["op"] == "And"
        if all(term.sort == BOOL for term in terms):
            whole = Apply(Op.AND if conjunction else Op.OR, tuple(terms), BOOL)
            return whole if len(terms) > 1 else terms[0]
        result, last = terms[-1], len(terms) - 1
        for place in reversed(range(last + (len(terms) < len(node["values"])))):
            taken = conjunction != (place == last)
            part, term = evaluated[place], terms[place]
            test = self.builder.truth(term, part, position, frame, outcome=taken)
            result = _either(test, result, f"another operand of {node.source}", taken=taken)
        return result

    def _evaluated(self, node: Node, position: int, frame: Frame) -> list[Node]:
        """The operands that this evaluation reached."""
        found: list[Node] = []
        before = -1
        for part in node["values"]:
            row = self.trace.last_at(part, frame, position + 1)
            if row is None or row < before:
                break
            found.append(part)
            before = row
        return found


def _either(test: Term, chosen: Term, other: str, *, taken: bool) -> Term:
    """What was chosen where a test holds, or where it does not, and nobody knows what the ``other`` would have been."""
    free = Free(other, chosen.sort)
    sides = (chosen, free) if taken else (free, chosen)
    return Apply(Op.ITE, (test, *sides), chosen.sort)
