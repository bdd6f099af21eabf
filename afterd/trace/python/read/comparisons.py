"""Comparisons as terms: integers, booleans and strings; displays of them item by item."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from afterd.model.term import BOOL, INT, STRING, Apply, Concrete, Op, Read, Sort, SortKind, Term
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.program import Node
from afterd.trace.python.read.tracefile import Recorded
from afterd.trace.python.read.values import Unknown

_ORDER = {"Lt": Op.LT, "LtE": Op.LE, "Gt": Op.GT, "GtE": Op.GE}
_EQUALITY = {"Eq": Op.EQ, "Is": Op.EQ, "IsNot": Op.NE}
_MODELLED = frozenset({SortKind.INT, SortKind.BOOL, SortKind.STRING})


class Builder(Protocol):
    """What comparisons need of the builder of terms."""

    def term(self, node: Node, position: int, frame: Frame, depth: int = ...) -> Term:
        """An operand."""
        ...

    def display(self, node: Node, position: int, frame: Frame) -> tuple[Node, int, Frame] | None:
        """The display an operand stands for."""
        ...

    def outcome(self, node: Node, position: int, frame: Frame) -> bool | Unknown:
        """What a condition was."""
        ...

    def opaque_reads(self, node: Node, position: int, frame: Frame) -> Iterable[Read]:
        """What a comparison of objects may have looked at."""
        ...

    def concrete(
        self,
        value: Recorded | Unknown,
        reason: str,
        found: Iterable[Read],
        sort: Sort | None = ...,
    ) -> Concrete:
        """A value that is not modelled."""
        ...


class Comparisons:
    """Builds comparisons for a builder of terms."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def term(self, node: Node, position: int, frame: Frame, depth: int) -> Term:
        """A (chained) comparison as a BOOL term."""
        operands = [node["left"], *node["comparators"]]
        links = [
            self._compare(operation, left, right, position, frame, depth)
            for operation, left, right in zip(node["ops"], operands, operands[1:], strict=False)
        ]
        known = [link for link in links if link is not None]
        if len(known) < len(links):
            value = self.builder.outcome(node, position, frame)
            found = [*self.builder.opaque_reads(node, position, frame)]
            return self.builder.concrete(value, f"{node.source}: objects compared", found, BOOL)
        return known[0] if len(known) == 1 else Apply(Op.AND, tuple(known), BOOL)

    def _compare(
        self, operation: str, left: Node, right: Node, position: int, frame: Frame, depth: int
    ) -> Term | None:
        if operation in {"NotIn", "NotEq"}:
            positive = "In" if operation == "NotIn" else "Eq"
            found = self._compare(positive, left, right, position, frame, depth)
            return None if found is None else Apply(Op.NOT, (found,), BOOL)
        mine = self.builder.term(left, position, frame, depth)
        if operation == "In":
            return self._contains(mine, right, position, frame, depth)
        if operation == "Eq" and (pairwise := self._pairwise(left, right, position, frame, depth)):
            return pairwise
        return self._scalars(operation, mine, self.builder.term(right, position, frame, depth))

    @staticmethod
    def _scalars(operation: str, mine: Term, other: Term) -> Term | None:
        if mine.sort != other.sort or mine.sort.kind not in _MODELLED:
            return None
        if operation in _ORDER and mine.sort == INT:
            return Apply(_ORDER[operation], (mine, other), BOOL)
        if operation in _EQUALITY:
            return Apply(_EQUALITY[operation], (mine, other), BOOL)
        return None

    def _contains(
        self, needle: Term, container: Node, position: int, frame: Frame, depth: int
    ) -> Term | None:
        if container.type in {"List", "Tuple", "Set"}:
            items = [self.builder.term(item, position, frame, depth) for item in container["elts"]]
            if items and all(item.sort == needle.sort for item in items):
                if needle.sort.kind not in _MODELLED:
                    return None
                equal = tuple(Apply(Op.EQ, (needle, item), BOOL) for item in items)
                return equal[0] if len(equal) == 1 else Apply(Op.OR, equal, BOOL)
            return None
        haystack = self.builder.term(container, position, frame, depth)
        if needle.sort == haystack.sort == STRING:
            return Apply(Op.STR_CONTAINS, (haystack, needle), BOOL)
        return None

    def _pairwise(
        self, left: Node, right: Node, position: int, frame: Frame, depth: int
    ) -> Term | None:
        """Equality of two displays of one length, item by item."""
        mine = self.builder.display(left, position, frame)
        other = self.builder.display(right, position, frame)
        if mine is None or other is None or mine[0].type != other[0].type or mine[0].type == "Dict":
            return None
        pairs = list(zip(mine[0]["elts"], other[0]["elts"], strict=False))
        if len(mine[0]["elts"]) != len(other[0]["elts"]) or not pairs:
            return None
        if any(item.type == "Starred" for pair in pairs for item in pair):
            return None
        equal: list[Term] = []
        for item, twin in pairs:
            first = self.builder.term(item, mine[1], mine[2], depth)
            second = self.builder.term(twin, other[1], other[2], depth)
            if first.sort != second.sort or first.sort.kind not in _MODELLED:
                return None
            equal.append(Apply(Op.EQ, (first, second), BOOL))
        return equal[0] if len(equal) == 1 else Apply(Op.AND, tuple(equal), BOOL)
