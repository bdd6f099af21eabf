"""Who wrote the bytes that a load read: stores, copies, external code, static initialisers."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from afterd.model.term import Apply, Concrete, Const, Op, Read, Sort, SortKind, Term, bitvec, reads
from afterd.tracing.llvm import libc, records
from afterd.tracing.llvm.constants import from_word, recorded_value, sort_of
from afterd.tracing.llvm.passed import Passed
from afterd.tracing.llvm.recorded import arguments, callee, operands
from afterd.tracing.llvm.steps import Cells

if TYPE_CHECKING:  # the two describe each other: values read memory, memory holds values
    from afterd.tracing.llvm.values import Values

_CANDIDATE_CALLS = 400
_COPIES = 64  # copies of copies that are followed to learn what bytes were
_OBJECT_REACH = 1 << 16  # bytes: how far past a pointer unknown external code is believed to write
_WORD = 8
_WIDEST = 64  # bytes of a value that is put together from its parts


class Memory:
    """Reads of memory as terms over the steps that wrote it. Bits are little-endian numbers."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._recording = values.recording
        self._passed = Passed(values)
        self._outside = cache(self._outside_uncached)

    def read(self, address: int, size: int, before: int, sort: Sort, bits: int | None) -> Term:
        """The term of ``size`` bytes at ``address`` just before a record; ``bits`` were read, if known.

        Where the last traced writer wrote something else, code that is not traced wrote in between.
        """
        writer = self._writer(address, size, before)
        held = self._held(writer, address, size)
        if bits is not None and held is not None and bits != held:
            return self._written_outside(address, size, before, writer, sort, bits)
        bits = held if bits is None else bits
        if writer >= 0:
            return self._written(writer, address, size, before, sort, bits)
        if held is None and self._external_writer(address, size, before, -1) is not None:
            return self._written_outside(address, size, before, -1, sort, bits)
        value = _value(bits, sort)
        step = self._values.ids.of_initial(Cells(address, size), value)
        return Read(step, sort, self._name(address), value)

    def _writer(self, address: int, size: int, before: int) -> int:
        """The last traced write of any of the bytes; -1 if there is none."""
        while True:
            at = self._recording.last_write(before, address, size)
            if at < 0 or not self._is_passed(at) or self._argument(at, address, size) is not None:
                return at
            before = at  # the record was written for more arguments than there were

    def _is_passed(self, at: int) -> bool:
        return self._recording.tag(at) == records.COPY and not self._recording.value(at)

    def _argument(self, at: int, address: int, size: int) -> Term | None:
        to = self._recording.word(at) & records.ADDRESS_MASK
        return self._passed.term(at, address - to, size, _bits_sort(size))

    def _held(self, at: int, address: int, size: int) -> int | None:
        """What a writer put into all of the bytes (a static initialiser for -1), if that is known."""
        if size > _WORD:
            return None
        for _ in range(_COPIES):
            if at < 0:
                return self._values.symbols.initial(address, size)
            if not self._covers(at, address, size):
                return None
            match self._recording.tag(at):
                case records.STORE:
                    return self._stored_bits(at, address, size)
                case records.FILL:
                    return int.from_bytes(bytes([self._recording.value(at) & 0xFF]) * size, "little")
            if self._is_passed(at):
                return None
            address += self._recording.value(at) - (self._recording.word(at) & records.ADDRESS_MASK)
            at = self._writer(address, size, at)
        return None

    def _covers(self, at: int, address: int, size: int) -> bool:
        start = self._recording.word(at) & records.ADDRESS_MASK
        return start <= address and address + size <= start + self._width(at)

    def _width(self, at: int) -> int:
        """The bytes that a STORE, COPY or FILL wrote."""
        word = self._recording.word(at)
        if word >> records.TAG_SHIFT == records.STORE:
            return word >> records.SIZE_SHIFT & records.SIZE_MASK
        return self._recording.word(at + 1) & records.LENGTH_MASK

    def _stored_bits(self, at: int, address: int, size: int) -> int | None:
        if self._width(at) > _WORD:
            return None
        offset = address - (self._recording.word(at) & records.ADDRESS_MASK)
        return self._recording.value(at) >> 8 * offset & (1 << 8 * size) - 1

    def _written(
        self, at: int, address: int, size: int, before: int, sort: Sort, bits: int | None
    ) -> Term:
        if not self._covers(at, address, size):
            return self._pieces(address, size, before, sort, bits)
        if self._recording.tag(at) == records.STORE:
            start = self._recording.word(at) & records.ADDRESS_MASK
            return self._part(at, address - start, size, sort, bits)
        value = _value(bits, sort)
        return Read(self._values.ids.of_cells(at, Cells(address, size), value), sort, "", value)

    def _part(self, at: int, offset: int, size: int, sort: Sort, bits: int | None) -> Term:
        """A store's value, or the part of it that was read (x86 is little-endian)."""
        kind = self.stored_kind(at)
        stored = sort_of(kind)
        value = recorded_value(self._recording.value(at), kind)
        read = Read(self._values.ids.of(at), stored, "", value)
        whole = size == self._width(at)
        if stored == sort and whole:
            return read
        if stored.kind is SortKind.BITVEC and sort.kind is SortKind.BITVEC and size * 8 <= stored.width:
            cut = Apply(Op.EXTRACT, (read,), bitvec(size * 8), offset * 8)
            return cut if sort.width == size * 8 else Apply(Op.EXTRACT, (cut,), sort)
        reason = "read under another type than it was written"
        return Concrete(_value(bits, sort), sort, reason, (read,))

    def stored_kind(self, at: int) -> str:
        """The LLVM type of the value that a STORE record's instruction wrote."""
        frames = self._values.frames
        instance = frames.instance(at)
        index = frames.instruction_of(instance, at) if instance else -1
        if instance is None or index < 0:
            return f"i{8 * self._width(at)}"
        instruction = instance.instructions[index]
        return operands(instruction)[0 if instruction.opcode == "store" else 1][0]

    def _pieces(self, address: int, size: int, before: int, sort: Sort, bits: int | None) -> Term:
        """Bytes that several writes left: their concatenation, highest byte first."""
        step = 1 if size <= _WORD else _WORD
        cells = [(at, min(step, size - at)) for at in range(0, min(size, _WIDEST), step)]
        parts = [
            self.read(address + at, width, before, bitvec(8 * width), _slice(bits, at, width))
            for at, width in cells
        ]
        if sort.kind is SortKind.BITVEC and sort.width == 8 * size:
            return Apply(Op.CONCAT, tuple(reversed(parts)), sort)
        used = tuple(dict.fromkeys(read for term in parts for read in reads(term)))
        return Concrete(_value(bits, sort), sort, "assembled from several writes", used)

    def copy_source(self, at: int, address: int, size: int, sort: Sort) -> Term:
        """What a COPY's source held for the bytes that it put at ``address``."""
        to = self._recording.word(at) & records.ADDRESS_MASK
        if self._is_passed(at):
            found = self._passed.term(at, address - to, size, sort)
            return found or Concrete(None, sort, "an argument that was not found")
        return self.read(self._recording.value(at) + address - to, size, at, sort, None)

    def _written_outside(
        self, address: int, size: int, before: int, after: int, sort: Sort, bits: int | None
    ) -> Term:
        value = _value(bits, sort)
        call = self._external_writer(address, size, before, after)
        if call is None:
            return Concrete(value, sort, "memory that code which is not traced wrote")
        return Read(self._values.ids.of_cells(call, Cells(address, size), value), sort, "", value)

    def _external_writer(self, address: int, size: int, before: int, after: int) -> int | None:
        """The last call of code that is not traced which may have written the bytes."""
        calls = self._recording.calls(before, max(after, 0), self._outside)
        for call in islice(calls, _CANDIDATE_CALLS):
            if self._may_write(call, address, size):
                return call
        return None

    def _outside_uncached(self, site: int) -> bool | None:
        """Whether a call site calls code that is not traced; None for a call through a pointer."""
        view = self._values.frames.program.view_of_site(site)
        block, index = view.sites[site]
        name = callee(view.function.blocks[block].instructions[index])
        return not self._values.frames.program.resolved(name[1:]) if name.startswith("@") else None

    def _may_write(self, call: int, address: int, size: int) -> bool:
        frames = self._values.frames
        instance = frames.instance(call)
        site = instance.view.sites.get(self._recording.identifier(call)) if instance else None
        if instance is None or site is None:
            return False
        instruction = instance.instructions[site[1]]
        name = callee(instruction)
        for number, (kind, text) in enumerate(arguments(instruction)):
            if not kind.startswith("ptr") or not libc.writes(name, number):
                continue
            pointer = self._values.pointer_value(kind, text, instance, site[1])
            if pointer and pointer - size < address < pointer + _OBJECT_REACH:
                return True
        back = frames.returned(call)
        result = self._recording.value(back) if back >= 0 and instruction.result else 0
        return bool(result) and libc.returns_written(name) and result <= address < result + _OBJECT_REACH

    def _name(self, address: int) -> str:
        placed = self._values.symbols.at(address)
        return placed.variable.name if placed and placed.variable else ""


def _value(bits: int | None, sort: Sort) -> bool | int | float | str | bytes | None:
    return None if bits is None else from_word(bits, sort)


def _slice(bits: int | None, at: int, width: int) -> int | None:
    return None if bits is None else bits >> 8 * at & (1 << 8 * width) - 1


def _bits_sort(size: int) -> Sort:
    return bitvec(8 * size)
