"""Memory of the executed program: bytes as they are, and beside them the terms they came from.

One address space of objects that are never given out twice, so that an address says which object it
was. A journal of what was overwritten makes it possible to go back to a branch and take the other
side.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field

from afterd.limits import MACHINE
from afterd.model.term import Apply, Const, Op, Sort, SortKind, Term, bitvec
from afterd.symbolic.refusal import SideEndedError
from afterd.trace.c.ir.constants import from_word, to_word

FIRST = 0x10000
_GAP = 16  # bytes between objects: one past the end is no other object

Value = bool | int | float | str | bytes | None


@dataclass(frozen=True, slots=True)
class Object:
    """A variable, stack slot or allocation; ``kind`` is equal for objects that may stand in for it."""

    start: int
    size: int
    kind: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A scalar that was stored: its size in bytes and its term."""

    size: int
    term: Term


Overwritten = tuple[int, bytes, tuple[tuple[int, Cell], ...]]


@dataclass(slots=True)
class Layout:
    """Where objects are, in all executions of a program: up to ``end``, by the place and the size."""

    end: int = 0
    places: dict[tuple[int, int], int] = field(default_factory=dict)


class Memory:
    """Bytes, terms, objects and the journal."""

    def __init__(self, layout: Layout | None = None) -> None:
        self._bytes = bytearray()
        self._layout = Layout() if layout is None else layout
        self.cells: dict[int, Cell] = {}
        self.objects: list[Object] = []
        self._starts: list[int] = []
        self.of_kind: dict[str, list[Object]] = {}
        self.records: dict[str, dict[int, None]] = {}
        """By struct type, where the run had structs, the newest last."""
        self.journal: list[Overwritten] = []
        self.ended: set[int] = set()
        """Where objects begin that nothing can read any more: the locals of calls that are over."""

    def allocate(self, size: int, kind: str, place: int = 0, *, real: bool = True) -> int:
        """A new object of zeros. ``place`` numbers the instruction's instance that made it (0: none): it
        has the same address in every execution, so that what is said of it is said once. One that is not
        ``real`` is there on a side that the run did not take, and stands in for none of the run's.
        """
        start = FIRST + self._layout.places.get((place, size), self._layout.end) if place else 0
        at = bisect.bisect_left(self._starts, start)
        if not place or (at < len(self._starts) and self._starts[at] == start):
            start, at = FIRST + self._layout.end, len(self._starts)
        if start - FIRST + size > MACHINE.memory or size < 0:
            raise SideEndedError("memory ran out")
        if start - FIRST == self._layout.end:
            self._layout.places[place, size] = start - FIRST
            self._layout.end += -(-(size + _GAP) // 16) * 16
        missing = self._layout.end - len(self._bytes)
        self._bytes += bytes(max(0, missing))
        made = Object(start, size, kind)
        self.objects.insert(at, made)
        self._starts.insert(at, start)
        others = self.of_kind.setdefault(kind, [])
        if real:
            others.append(made)
        return start

    def hold(self, data: bytes, kind: str, place: int = 0) -> int:
        """A new object with contents that no branch takes back."""
        start = self.allocate(len(data), kind, place)
        at = start - FIRST
        self._bytes[at : at + len(data)] = data
        return start

    def copy(self) -> Memory:
        """A memory of its own with the same contents."""
        other = Memory(self._layout)
        other._bytes[:] = self._bytes
        other.cells = dict(self.cells)
        other.objects = list(self.objects)
        other._starts = list(self._starts)
        other.of_kind = {kind: list(found) for kind, found in self.of_kind.items()}
        other.records = {record: dict(found) for record, found in self.records.items()}
        other.journal = list(self.journal)
        other.ended = set(self.ended)
        return other

    def standing_in_for(self, one: Object) -> list[Object]:
        """Other objects of its kind, but those that the run had as structs of another type."""
        own = {record for record, starts in self.records.items() if one.start in starts}
        return [
            other
            for other in self.of_kind[one.kind]
            if other is not one
            and (
                not own
                or any(other.start in self.records[record] for record in own)
                or not any(other.start in starts for starts in self.records.values())
            )
        ]

    def object_at(self, address: int) -> Object | None:
        """The object that an address lies in."""
        at = bisect.bisect_right(self._starts, address) - 1
        if at < 0:
            return None
        found = self.objects[at]
        return found if address < found.start + max(found.size, 1) else None

    def places_of(self, data: bytes) -> list[int]:
        """Some addresses at which memory holds these bytes now, the latest objects' first."""
        found: list[int] = []
        at = self._bytes.rfind(data)
        while at >= 0 and len(found) < MACHINE.places:
            found.append(FIRST + at)
            at = self._bytes.rfind(data, 0, at)
        return found

    def check(self, address: int, size: int) -> None:
        """Raises SideEndedError for an access outside of every object."""
        if size and not FIRST <= address <= FIRST + len(self._bytes) - size:
            raise SideEndedError(f"an access to address {address:#x}")

    def read(self, address: int, size: int) -> bytes:
        """Bytes as they are."""
        self.check(address, size)
        at = address - FIRST
        return bytes(self._bytes[at : at + size])

    def write(self, address: int, data: bytes, term: Term | None = None) -> None:
        """Overwrite bytes; what other cells said of them is forgotten."""
        size = len(data)
        self.check(address, size)
        at = address - FIRST
        gone = self._overlapping(address, size)
        self.journal.append((address, bytes(self._bytes[at : at + size]), gone))
        self._bytes[at : at + size] = data
        for start, cell in gone:
            del self.cells[start]
            self._keep_rest(start, cell, address, size)
        if term is not None:
            self.cells[address] = Cell(size, term)

    def load(self, address: int, size: int, sort: Sort) -> tuple[Value, Term | None]:
        """A scalar with its term; None where only constants were ever written there."""
        data = self.read(address, size)
        value = from_word(int.from_bytes(data, "little"), sort)
        cell = self.cells.get(address)
        if cell is not None and cell.size == size:
            return value, _term_as(cell.term, sort)
        return value, self._pieced(address, size, sort) if self.cells else None

    def mark(self) -> int:
        """The journal's length: a state to go back to."""
        return len(self.journal)

    def undo(self, mark: int) -> None:
        """Go back to a mark."""
        while len(self.journal) > mark:
            address, data, gone = self.journal.pop()
            spans = [(address, len(data)), *((start, cell.size) for start, cell in gone)]
            for start, size in spans:
                for cell, _ in self._overlapping(start, size):
                    del self.cells[cell]
            at = address - FIRST
            self._bytes[at : at + len(data)] = data
            self.cells.update(gone)

    def changed(self, mark: int) -> dict[int, tuple[bytes, Term | None]]:
        """What stands now in every scalar that was written since a mark, and can still be read."""
        spans: dict[int, int] = {}
        for address, data, gone in self.journal[mark:]:
            spans[address] = max(spans.get(address, 0), len(data))
            for start, cell in gone:
                spans[start] = max(spans.get(start, 0), cell.size)
        found: dict[int, tuple[bytes, Term | None]] = {}
        for address, size in spans.items():
            written = self.object_at(address)
            if written is not None and written.start in self.ended:
                continue
            for start, width in self.scalars(address, size):
                found[start] = (self.read(start, width), self.term_at(start, width))
        return found

    def term_at(self, address: int, size: int) -> Term | None:
        """The term of bytes: of the sort that was stored, or a bit-vector."""
        cell = self.cells.get(address)
        if cell is not None and cell.size == size:
            return cell.term
        return self.load(address, size, bitvec(8 * size))[1]

    def scalars(self, address: int, size: int) -> list[tuple[int, int]]:
        """A span cut where cells begin and end, into pieces of at most eight bytes."""
        found = []
        at, end = address, address + size
        while at < end:
            cell = self.cells.get(at)
            if cell is not None and at + cell.size <= end:
                width = cell.size
            else:
                following = (n for n in range(1, min(8, end - at)) if at + n in self.cells)
                width = next(following, min(8, end - at))
            found.append((at, width))
            at += width
        return found

    def _overlapping(self, address: int, size: int) -> tuple[tuple[int, Cell], ...]:
        cells = self.cells
        if not cells:
            return ()
        if size <= 16:
            starts = (at for at in range(address - 7, address + size) if at in cells)
        else:
            starts = (at for at in list(cells) if address - 7 <= at < address + size)
        return tuple((at, cells[at]) for at in starts if at + cells[at].size > address)

    def _keep_rest(self, start: int, cell: Cell, address: int, size: int) -> None:
        """The bytes of a cell that an overlapping write left as they were."""
        if cell.term.sort.kind is not SortKind.BITVEC:
            return
        for offset in range(cell.size):
            if not address <= start + offset < address + size:
                self.cells[start + offset] = Cell(1, _byte(cell.term, offset))

    def _pieced(self, address: int, size: int, sort: Sort) -> Term | None:
        """A term put together from bytes of several cells."""
        if not any(at in self.cells for at in range(address - 7, address + size)):
            return None
        parts: list[Term] = []
        known = False
        for at in range(address, address + size):
            part: Term = Const(self._bytes[at - FIRST], bitvec(8))
            for start in range(at - 7, at + 1):
                cell = self.cells.get(start)
                if cell is not None and start + cell.size > at:
                    bits = _term_as(cell.term, bitvec(8 * cell.size))
                    if bits is not None:
                        part, known = _byte(bits, at - start), True
            parts.append(part)
        if not known:
            return None
        whole = Apply(Op.CONCAT, tuple(reversed(parts)), bitvec(8 * size))
        return _term_as(whole if size > 1 else parts[0], sort)


def data_of(value: Value, sort: Sort, size: int) -> bytes:
    """The bytes of a scalar."""
    word = to_word(value, sort)
    return ((word or 0) & (1 << 8 * size) - 1).to_bytes(size, "little")


def _byte(term: Term, offset: int) -> Term:
    if term.sort.width <= 8:
        return term
    return Apply(Op.EXTRACT, (term,), bitvec(8), 8 * offset)


def _term_as(term: Term, sort: Sort) -> Term | None:
    """A stored term read as another sort of the same size."""
    held = term.sort
    if held == sort:
        return term
    if held.kind is SortKind.BITVEC and sort.kind is SortKind.BITVEC:
        return (
            Apply(Op.EXTRACT, (term,), sort, 0)
            if held.width > sort.width
            else (Apply(Op.ZEXT, (term,), sort))
        )
    if held.kind is SortKind.BITVEC and sort.kind is SortKind.BOOL:
        return Apply(Op.NE, (term, Const(0, held)), sort)
    if held.kind is SortKind.BOOL and sort.kind is SortKind.BITVEC:
        return Apply(Op.ITE, (term, Const(1, sort), Const(0, sort)), sort)
    return None
