"""Of which statements a value was made, in the part of a run before terms are kept.

What a long run computed before its window is known, but it is not given: had a statement behind it
been another one, it would be something else. So such a value is a *point* of the statements it was
made from, through data and control: what it was while all of them are as written, free otherwise.
What the other side of a branch is known to write, and what a loop has written when it is left, is so
because of the branch as well (potential dependence).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from afterd.logic import Statement, distinct_reads
from afterd.model.term import Concrete, Read, Sort, Term, Value, bitvec
from afterd.symbolic.collecting import TRUE, Collector
from afterd.symbolic.memory import Cell, Memory

_SCALAR = 8  # bytes
_REASON = "computed before terms are kept"


class Origins:
    """Sets of statements, as bits; a term stands for a value and its set."""

    def __init__(self, collector: Collector, memory: Memory) -> None:
        self._collector = collector
        self._memory = memory
        self._bits: dict[tuple[str, int], int] = {}
        self._reads: list[Read] = []
        self._of_step: dict[int, int] = {}
        self._tuples: dict[int, tuple[Read, ...]] = {}
        self._of_tuple: dict[int, int] = {}  # by identity of what _tuples keeps

    def copy(self, collector: Collector, memory: Memory) -> Origins:
        """The same sets for an execution that goes on with a collector and a memory of its own."""
        other = Origins(collector, memory)
        other._bits, other._reads = dict(self._bits), list(self._reads)
        other._of_step, other._tuples = dict(self._of_step), dict(self._tuples)
        other._of_tuple = dict(self._of_tuple)
        return other

    def statement(self, statement: Statement | None) -> int:
        """The set of one statement."""
        if statement is None:
            return 0
        if statement.line not in self._bits:
            read = self._collector.define(("origin", statement.line), TRUE, True, statement)  # noqa: FBT003 - its value
            self._bits[statement.line] = self._of_step[read.step] = 1 << len(self._reads)
            self._reads.append(read)
        return self._bits[statement.line]

    def of(self, term: Term | None) -> int:
        """The set behind a value."""
        if term is None:
            return 0
        if isinstance(term, Concrete) and id(term.reads) in self._of_tuple:
            return self._of_tuple[id(term.reads)]
        found = 0
        for read in distinct_reads(term):
            found |= self._of_step.get(read.step, 0)
        return found

    def of_all(self, terms: Iterable[Term | None]) -> int:
        """The sets behind several values, together."""
        found = 0
        for term in terms:
            found |= self.of(term)
        return found

    def term(self, value: Value, sort: Sort, origin: int) -> Term | None:
        """The value and its set; None where nothing is behind it."""
        if not origin:
            return None
        if origin not in self._tuples:
            reads = tuple(read for at, read in enumerate(self._reads) if origin >> at & 1)
            self._tuples[origin], self._of_tuple[id(reads)] = reads, origin
        return Concrete(value, sort, _REASON, self._tuples[origin])

    def add(self, address: int, size: int, origin: int) -> None:
        """What memory holds is so because of these statements, too."""
        if size > _SCALAR or not origin:
            return
        sort = bitvec(8 * size)
        value, term = self._memory.load(address, size, sort)
        now = self.of(term) | origin
        if now != self.of(term):
            made = self.term(value, sort, now)
            assert made is not None
            self._memory.cells[address] = Cell(size, made)

    def copied(self, mark: int, origin: int) -> None:
        """What the library has written since a mark is so because of what it was given, too: from where it copied,
        and to where.
        """
        spans = {address: len(data) for address, data, _ in self._memory.journal[mark:]}
        for address, size in spans.items():
            for start, width in self._memory.scalars(address, size):
                self.add(start, width, origin)

    def met(self, decision: Decision) -> None:
        """The sides of a branch meet; what was written between carries its first decision already."""
        if not decision.again:
            return
        journal = self._memory.journal[decision.mark :]
        written = {address: len(data) for address, data, _ in journal}
        for address, size in written.items():
            self.add(address, size, decision.own)


@dataclass(frozen=True, slots=True)
class Decision:
    """A branch whose sides have not met: the block where they do, its origins, those of all branches
    on the way, and the memory's mark before it. ``again``: it was decided more than once (a loop), so
    that what was written after one decision is so because of the later ones, too.
    """

    join: int
    own: int
    together: int
    mark: int
    again: bool = False
