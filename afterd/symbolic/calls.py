"""One call of a C library function, with its arguments as what they are used for."""

from __future__ import annotations

from collections.abc import Sequence

from afterd.logic import distinct_reads
from afterd.model.term import Concrete, Read, Sort, SortKind, Term, Value, bitvec
from afterd.symbolic.code import Code
from afterd.symbolic.frames import Frame
from afterd.symbolic.machine import Machine
from afterd.symbolic.operations import Known
from afterd.symbolic.strings import text_at

_MASK = (1 << 64) - 1


class Call:
    """One call, with its arguments as what they are used for."""

    def __init__(self, machine: Machine, frame: Frame, code: Code, given: list[Known]) -> None:
        self.machine = machine
        self.frame = frame
        self.code = code
        self.given = given
        self._loads = self._made = 0

    def number(self, at: int) -> int:
        """An integer argument, unsigned."""
        value = self.given[at][0]
        assert isinstance(value, int)
        return int(value)

    def text(self, at: int) -> bytes:
        """A string argument."""
        return text_at(self.machine.memory, self.number(at))

    def form(self, at: int) -> str:
        """A format argument."""
        return self.text(at).decode("latin-1")

    def concrete(self, value: Value, *dependent: Term | None) -> Known:
        """A result that only holds for the arguments it was made from."""
        return self.point(value, self.code.sort, [*(term for _, term in self.given), *dependent])

    def point(self, value: Value, sort: Sort, dependent: Sequence[Term | None]) -> Known:
        """A value that only holds while what it was made from is what it was."""
        if isinstance(value, int) and sort.kind is SortKind.BITVEC:
            value &= (1 << sort.width) - 1
        terms = [term for term in dependent if term is not None]
        machine = self.machine
        if not machine.symbolic:
            return value, machine.of_origins(value, sort, terms)
        found = {r.step: r for term in terms for r in distinct_reads(term)}
        if not found:
            return value, None
        name = self.code.detail[0]
        return value, Concrete(value, sort, f"a result of {name}", tuple(found.values()))

    def assign(self, at: int, value: int | float | bytes, size: int, given: Sequence[Term]) -> None:
        """Write through a pointer argument what was read from outside, or made of ``given`` terms."""
        if isinstance(value, bytes):
            self.fill(self.number(at), value + b"\0", given)
            return
        sort = Sort(SortKind.FLOAT, 8 * size) if isinstance(value, float) else bitvec(8 * size)
        self.store(self.given[at], self.point(value, sort, given), sort)

    def doubt(self, at: int, sort: Sort | None, most: int) -> None:
        """What stands behind a pointer argument is what this statement made of the input (or should have),
        which may be wrong: a scalar, or up to ``most`` bytes of a text.
        """
        statement, address = self.code.statement, self.number(at)
        found = self.machine.memory.object_at(address)
        if statement is None or found is None:
            return
        end = min(found.start + found.size, address + most)
        places = range(address, end) if sort is None else (address,)
        of = bitvec(8) if sort is None else sort
        for place in places:
            known = self.load((place, None), of)
            key = (self.machine.key(self.frame), "doubted", place)
            made = self.machine.defined_by(statement, key, known, of, self.frame)
            self.store((place, None), made, of)

    def store(self, pointer: Known, known: Known, sort: Sort, parts: int = 1) -> None:
        """Write a scalar through a pointer, one of so many of a record."""
        address, term = pointer
        target = (address, term if self.machine.symbolic else None)
        self.machine.pointers.store(target, known, sort, sort.width // 8, parts=parts)

    def fill(self, address: int, data: bytes, given: Sequence[Term]) -> None:
        """Write bytes that were made of ``given`` terms."""
        self.machine.memory.write(address, data)
        if given:
            for at, byte in enumerate(data):
                _, term = self.point(byte, bitvec(8), given)
                self.machine.memory.write(address + at, data[at : at + 1], term)

    def input(self, value: int, source: tuple[str, int]) -> Known:
        """A number that was read from outside."""
        word = value & (1 << self.code.sort.width) - 1
        if not self.machine.symbolic:
            return word, None
        return word, self.bound(word, source, self.code.sort.width)

    def bound(self, word: int, source: tuple[str, int], width: int) -> Read:
        """The name of a number that was read from outside."""
        machine = self.machine
        key = (machine.key(self.frame), source)
        read = machine.collector.bind(key, bitvec(width), word, f"{source[0]} {source[1]}")
        machine.world.sources[read.step] = source
        return read

    def load(self, pointer: Known, sort: Sort, parts: int = 1) -> Known:
        """Read a scalar through a pointer, one of so many of a record."""
        self._loads += 1
        key = 0
        if pointer[1] is not None:
            place = (self.machine.key(self.frame), "library", self._loads)
            key = self.machine.collector.names.of(place)
        return self.machine.pointers.load(pointer, sort.width // 8, sort, key, parts=parts)

    def allocate(self, size: int) -> int:
        """A new object of the heap."""
        machine = self.machine
        return machine.memory.allocate(size, f"heap {size}", self.place(), real=machine.real)

    def place(self) -> int:
        """The number of something that this call makes."""
        self._made += 1
        return self.machine.collector.names.of((self.machine.key(self.frame), "made", self._made))

    def cells(self, address: int, size: int) -> list[Term]:
        """The terms of some bytes."""
        memory = self.machine.memory
        if not memory.cells:
            return []
        span = range(address - 7, address + size)
        found = [(at, memory.cells[at]) for at in span if at in memory.cells]
        return [cell.term for at, cell in found if at + cell.size > address]

    def called(self, function: int, given: Sequence[Known]) -> Known:
        """What a function of the program returns when the library calls it."""
        return self.machine.called_back(self.frame, function, given)
