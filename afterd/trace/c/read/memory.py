"""Who wrote the bytes that a load read: stores, copies, external code, static initialisers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from afterd.limits import C_TRACE
from afterd.logic import evaluate
from afterd.model.term import (
    Apply,
    Concrete,
    Op,
    Read,
    Sort,
    SortKind,
    Term,
    Value,
    bitvec,
    reads,
)
from afterd.trace.c.ir.constants import from_word, recorded_value, sort_of
from afterd.trace.c.ir.recorded import arguments, callee, operands
from afterd.trace.c.read import libc
from afterd.trace.c.read.contents import WORD, Contents, mask
from afterd.trace.c.read.frames import Call
from afterd.trace.c.read.outside import Outside
from afterd.trace.c.read.steps import Cells
from afterd.trace.c.window import records

if TYPE_CHECKING:  # the two describe each other: values read memory, memory holds values
    from afterd.trace.c.read.values import Values


class Memory:
    """Reads of memory as terms over the steps that wrote it. Bits are little-endian numbers."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._recording = values.recording
        self._contents = Contents(values)
        self.outside = Outside(values)
        self._depth = 0

    def read(
        self,
        address: int,
        size: int,
        before: int,
        sort: Sort,
        bits: int | None,
        variable: str = "",
    ) -> Term:
        """The term of ``size`` bytes at ``address`` just before a record; ``bits`` were read, if known, and if it was
        by its name from a ``variable`` of the C library.

        Where the last traced writer wrote something else, code that is not traced wrote in between.
        """
        writer = self._contents.writer(address, size, before)
        held = self._contents.left_by(writer, address, size, before)
        differs = bits is not None and held is not None and bits != held
        bits = held if bits is None else bits
        if differs or (writer < 0 and held is None):
            made = self.outside.writer(address, size, before, writer, variable)
            found = self._written_outside(made, Cells(address, size), sort, bits)
            if found is not None:
                return found
            if differs and not self._is_copy(
                writer
            ):  # what was copied may have been written outside
                return Concrete(
                    _value(bits, sort), sort, "memory that code which is not traced wrote"
                )
        if writer >= 0:
            return self._written(writer, address, size, before, sort, bits)
        value = _value(bits, sort)
        step = self._values.ids.of_initial(Cells(address, size), value)
        return Read(step, sort, self._name(address), value)

    def bits(self, address: int, size: int, before: int) -> int | None:
        """What recorded writes had left in the bytes, if that is known."""
        return self._contents.bits(address, size, before)

    def byte(self, address: int, before: int) -> int | None:
        """One byte, also where the C library copied it there; None if that is not known."""
        found = self.bits(address, 1, before)
        if found is not None:
            return found
        value = evaluate(self.read(address, 1, before, bitvec(8), None))
        return value if isinstance(value, int) else None

    def _is_copy(self, at: int) -> bool:
        return at >= 0 and self._recording.tag(at) == records.COPY

    def _written(
        self, at: int, address: int, size: int, before: int, sort: Sort, bits: int | None
    ) -> Term:
        if not self._contents.covers(at, address, size):
            return self._pieces(address, size, before, sort, bits)
        if self._recording.tag(at) == records.STORE:
            return self._part(at, address - self._contents.target(at), size, sort, bits)
        value = _value(bits, sort)
        return Read(self._values.ids.of_cells(at, Cells(address, size), value), sort, "", value)

    def _part(self, at: int, offset: int, size: int, sort: Sort, bits: int | None) -> Term:
        """A store's value, or the part of it that was read (x86 is little-endian)."""
        kind = self._stored_kind(at)
        stored = sort_of(kind)
        value = recorded_value(self._recording.value(at), kind)
        read = Read(self._values.ids.of(at), stored, "", value)
        if stored == sort and size == self._contents.width(at):
            return read
        if (
            stored.kind is SortKind.BITVEC
            and sort.kind is SortKind.BITVEC
            and size * 8 <= stored.width
        ):
            cut = Apply(Op.EXTRACT, (read,), bitvec(size * 8), offset * 8)
            return cut if sort.width == size * 8 else Apply(Op.EXTRACT, (cut,), sort)
        reason = "read under another type than it was written"
        return Concrete(_value(bits, sort), sort, reason, (read,))

    def _stored_kind(self, at: int) -> str:
        """The LLVM type of the value that a STORE record's instruction wrote."""
        frames = self._values.frames
        instance = frames.instance(at)
        index = frames.instruction_of(instance, at) if instance else -1
        if instance is None or index < 0:
            return f"i{8 * self._contents.width(at)}"
        instruction = instance.instructions[index]
        return operands(instruction)[0 if instruction.opcode == "store" else 1][0]

    def _pieces(self, address: int, size: int, before: int, sort: Sort, bits: int | None) -> Term:
        """Bytes that several writes left: their concatenation, highest byte first."""
        step = 1 if size <= WORD else WORD
        cells = [(at, min(step, size - at)) for at in range(0, min(size, C_TRACE.widest), step)]
        parts = [
            self.read(address + at, width, before, bitvec(8 * width), _slice(bits, at, width))
            for at, width in cells
        ]
        if sort.kind is SortKind.BITVEC and sort.width == 8 * size:
            return Apply(Op.CONCAT, tuple(reversed(parts)), sort)
        used = tuple(dict.fromkeys(read for term in parts for read in reads(term)))
        return Concrete(_value(bits, sort), sort, "assembled from several writes", used)

    def copy_source(self, at: int, address: int, size: int, sort: Sort, bits: int | None) -> Term:
        """What a COPY's source held for the bytes that it put at ``address``, where ``bits`` were read."""
        if self._contents.is_passed(at):
            offset = address - self._contents.target(at)
            found = self._contents.passed.term(at, offset, size, sort)
            return found or Concrete(None, sort, "an argument that was not found")
        return self.read(self._contents.source(at, address), size, at, sort, bits)

    def _written_outside(
        self, made: Call | None, cells: Cells, sort: Sort, bits: int | None
    ) -> Term | None:
        """What a call of code that is not traced may have written."""
        if made is None:
            return None
        copied = self._copied_outside(made, cells.address, cells.size, sort, bits)
        value = _value(bits, sort)
        step = self._values.ids.of_cells(made.position, cells, value)
        return copied or Read(step, sort, "", value)

    def _copied_outside(
        self, made: Call, address: int, size: int, sort: Sort, bits: int | None
    ) -> Term | None:
        """What the C library copied (strcpy, realloc …), read where it copied it from."""
        ends, given = libc.copies(callee(made.instruction)), arguments(made.instruction)
        if ends is None or self._depth > C_TRACE.copies or max(ends) >= len(given):
            return None
        to, source = (
            self._values.pointer_value(*given[end], made.instance, made.index)
            if end >= 0
            else self.outside.result(made)
            for end in ends
        )
        if not to or not source or address < to:
            return None
        there = source + address - to
        self._depth += 1
        try:
            copied = self.read(there, size, made.position, sort, bits)
        finally:
            self._depth -= 1
        return copied if self._is_defined(copied) else None

    def _is_defined(self, term: Term) -> bool:
        """Whether it is known where bytes came from: of those that code which is not traced keeps for itself
        nobody saw a write, and what says of them is what gave their address.
        """
        found = list(reads(term))
        return bool(found) and not all(
            self._values.ids.is_initial(read.step)
            and self._values.symbols.at(self._values.ids.cells[read.step].address) is None
            for read in found
        )

    def _name(self, address: int) -> str:
        placed = self._values.symbols.at(address)
        return placed.variable.name if placed and placed.variable else ""


def _value(bits: int | None, sort: Sort) -> Value:
    return None if bits is None else from_word(bits, sort)


def _slice(bits: int | None, at: int, width: int) -> int | None:
    return None if bits is None else bits >> 8 * at & mask(width)
