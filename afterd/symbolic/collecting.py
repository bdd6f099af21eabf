"""What an execution says, as it is said: definitions, obligations, frontiers, in SSA form."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

from afterd.limits import MACHINE
from afterd.logic import (
    Branch,
    Definition,
    Frontier,
    PathCondition,
    ProgramFormula,
    Statement,
    Violated,
)
from afterd.model.term import BOOL, Apply, Const, Op, Read, Sort, StepId, Term, Value
from afterd.symbolic.addresses import ADDRESS, WORD, is_address, narrow_address, wide_address

TRUE = Const(True, BOOL)  # noqa: FBT003 - the literal true


class Names:
    """Gives every place of a program's executions the same number each time it is executed."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, key: Hashable) -> int:
        """The number of a key."""
        return self._numbers.setdefault(key, len(self._numbers) + 1)


@dataclass(slots=True)
class Collector:
    """Collects one formula. ``path`` is the condition of reaching this point, None for always.

    ``escape`` holds where a side was taken whose effects are unknown: nothing is asked from there.
    """

    names: Names
    path: Term | None = None
    escape: Term | None = None
    definitions: list[Definition] = field(default_factory=list)
    inputs: list[Definition] = field(default_factory=list)
    hard: list[Term] = field(default_factory=list)
    sane: list[tuple[Term | None, Term]] = field(default_factory=list)
    violated: list[Violated] = field(default_factory=list)
    frontier: list[Frontier] = field(default_factory=list)
    conditions: list[PathCondition] = field(default_factory=list)
    executed: dict[Statement, None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    words: dict[StepId, frozenset[int]] = field(default_factory=dict)
    """Of a word that sides of branches define otherwise: what it is on each."""

    def copy(self) -> Collector:
        """A collector of its own that has said the same."""
        return replace(
            self,
            definitions=list(self.definitions), inputs=list(self.inputs), hard=list(self.hard),
            sane=list(self.sane), violated=list(self.violated), frontier=list(self.frontier),
            conditions=list(self.conditions), executed=dict(self.executed), notes=dict(self.notes),
            words=dict(self.words),
        )  # fmt: skip

    def define(self, key: Hashable, term: Term, value: Value, statement: Statement | None) -> Read:
        """The value that a statement defined (hard without one)."""
        step = self.names.of(key)
        self.definitions.append(Definition(step, term, statement))
        if term.sort in {WORD, ADDRESS} and len(found := self.meanings(term)) > 1:
            self.words[step] = found
        return Read(step, term.sort, "", value)

    def define_pointer(
        self, key: Hashable, term: Term, value: Value, statement: Statement | None
    ) -> Term:
        """The pointer that a statement defined: whatever it is, it is no more than an address."""
        if not is_address(value):
            return self.define(key, term, value, statement)
        return wide_address(self.define(key, narrow_address(term), value, statement))

    def meanings(self, term: Term) -> frozenset[int]:
        """The values of a word on the sides of branches that chose it, as far as they are known; as many as an
        access may be of places.
        """
        found: frozenset[int] = frozenset()
        match term:
            case Const(value=int(value)):
                found = frozenset({value})
            case Read(step=step, value=int(value)):
                found = self.words.get(step, frozenset({value}))
            case Apply(op=Op.ZEXT | Op.EXTRACT, args=(word,)) if ADDRESS in {term.sort, word.sort}:
                found = self.meanings(word)
            case Apply(op=Op.ITE, args=(_, one, other)):
                found = self.meanings(one) | self.meanings(other)
            case Apply(op=Op.ADD, args=(base, Const(value=int(offset)))):
                found = frozenset((word + offset) % (1 << 64) for word in self.meanings(base))
        return found if len(found) <= MACHINE.places else frozenset()

    def free(self, key: Hashable, sort: Sort, value: Value, *, is_pointer: bool = False) -> Term:
        """A value that nothing is known about (beyond what it was in this run, and that a pointer is an address)."""
        step = self.names.of(("free", key))
        if is_pointer and is_address(value):
            return wide_address(Read(step, ADDRESS, "", value))
        return Read(step, sort, "", value)

    def bind(self, key: Hashable, sort: Sort, value: Value, name: str) -> Read:
        """A value read from outside."""
        step = self.names.of(("input", key))
        self.inputs.append(Definition(step, Const(value, sort)))
        return Read(step, sort, name, value)

    def require(self, term: Term, *, name: str = "", violated: bool = False) -> None:
        """An obligation under the path; one that this run broke where ``violated``."""
        obligation = implication(self.reached(), term)
        if violated:
            self.violated.append(Violated(name, obligation))
        elif obligation is not TRUE:
            self.hard.append(obligation)

    def keep_sane(self, term: Term) -> None:
        """What the language leaves undefined is not a way to repair anything."""
        self.sane.append((self.path, term))

    def reached(self) -> Term | None:
        """The path, without what escaped."""
        return (
            self.path
            if self.escape is None
            else conjunction_of(self.path, negation_of(self.escape))
        )

    def leave(self, branch: Branch, taken: Term, *, effects_known: bool) -> None:
        """A side that is not encoded."""
        self.frontier.append(Frontier(branch, taken))
        if not effects_known:
            self._escape(taken)

    def lose(self, condition: Term) -> None:
        """From here on nothing is asked where the condition held on this path: effects are unknown."""
        self._escape(conjunction_of(self.path, condition))

    def _escape(self, condition: Term) -> None:
        self.escape = condition if self.escape is None else _disjunction_of(self.escape, condition)

    def narrow(self, key: Hashable, before: Term | None, condition: Term) -> None:
        """Go on under one more condition."""
        both = conjunction_of(before, condition)
        self.path = both if before is None else self.define(key, both, None, None)

    def formula(self, instances: int) -> ProgramFormula:
        """The formula of what was collected."""
        return ProgramFormula(
            tuple(self.definitions),
            tuple(self.inputs),
            tuple(self.hard),
            tuple(self.violated),
            tuple(self.frontier),
            tuple(self.conditions),
            tuple(self.executed),
            instances,
            tuple(self.notes),
            tuple(self.sane),
        )


def conjunction_of(a: Term | None, b: Term) -> Term:
    """A ∧ b."""
    return b if a is None else Apply(Op.AND, (a, b), BOOL)


def negation_of(term: Term) -> Term:
    """¬a."""
    return Apply(Op.NOT, (term,), BOOL)


def implication(condition: Term | None, term: Term) -> Term:
    """Condition → term."""
    return term if condition is None else _disjunction_of(negation_of(condition), term)


def any_of(terms: Sequence[Term]) -> Term:
    """The disjunction."""
    result = terms[0]
    for term in terms[1:]:
        result = _disjunction_of(result, term)
    return result


def _disjunction_of(a: Term, b: Term) -> Term:
    return Apply(Op.OR, (a, b), BOOL)
