"""Who wrote the bytes that a load read: stores, copies, external code, static initialisers."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from afterd.model.term import BOOL, Apply, Concrete, Const, Op, Read, Sort, SortKind, Term, Value, bitvec
from afterd.tracing.llvm import libc, records
from afterd.tracing.llvm.constants import from_word, sort_of
from afterd.tracing.llvm.recorded import arguments, callee, operands
from afterd.tracing.llvm.steps import Cells

if TYPE_CHECKING:  # the two describe each other: values read memory, memory holds values
    from afterd.tracing.llvm.values import Values

_CANDIDATE_CALLS = 400
_OBJECT_REACH = 1 << 16  # bytes: how far past a pointer unknown external code is believed to write


class Memory:
    """Reads of memory as terms over the steps that wrote it."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._recording = values.recording

    def read(self, address: int, size: int, before: int, sort: Sort, value: Value) -> Term:
        """The term of ``size`` bytes at ``address`` just before a record; ``value`` is what was read.

        Where the last traced writer wrote something else, code that is not traced wrote in between.
        """
        written = self._recording.last_write(before, address, size)
        term = self._written(written, address, size, before, sort)
        if value is not None and term is not None and _differs(term, value):
            external = self.external_writer(address, size, before, written)
            if external is not None:
                return Read(self._values.ids.of_cells(external, Cells(address, size), value), sort, "", value)
            return Concrete(value, sort, "memory that code which is not traced wrote")
        if term is not None:
            return term
        external = self.external_writer(address, size, before, -1)
        if external is not None:
            return Read(self._values.ids.of_cells(external, Cells(address, size), value), sort, "", value)
        return Read(self._values.ids.of_initial(Cells(address, size), value), sort, self._name(address), value)

    def _written(self, at: int, address: int, size: int, before: int, sort: Sort) -> Term | None:
        if at < 0:
            return None
        if self._recording.tag(at) != records.STORE:
            return Read(self._values.ids.of_cells(at, Cells(address, size)), sort, "", self._copied(at, address, size, sort))
        word = self._recording.word(at)
        start, width = word & records.ADDRESS_MASK, word >> records.SIZE_SHIFT & records.SIZE_MASK
        if start <= address and address + size <= start + width:
            return self._part(at, address - start, size, sort)
        return self._pieces(address, size, before, sort)

    def _part(self, at: int, offset: int, size: int, sort: Sort) -> Term:
        """A store's value, or the part of it that was read (x86 is little-endian)."""
        stored = self.stored_sort(at)
        read = Read(self._values.ids.of(at), stored, "", from_word(self._recording.value(at), stored))
        if stored == sort:
            return read
        if stored == BOOL and sort.kind is SortKind.BITVEC:
            return Apply(Op.ITE, (read, Const(1, sort), Const(0, sort)), sort)
        if stored.kind is SortKind.BITVEC and sort.kind is SortKind.BITVEC and sort.width <= stored.width:
            return Apply(Op.EXTRACT, (read,), bitvec(sort.width), offset * 8)
        return Concrete(None, sort, "read under another type than it was written", (read,))

    def stored_sort(self, at: int) -> Sort:
        """The sort of the value that a STORE record's instruction wrote."""
        frames = self._values.frames
        instance = frames.instance(at)
        index = frames.instruction_of(instance, at) if instance else -1
        if instance is None or index < 0:
            size = self._recording.word(at) >> records.SIZE_SHIFT & records.SIZE_MASK
            return bitvec(8 * min(max(size, 1), 8))
        instruction = instance.instructions[index]
        return sort_of(operands(instruction)[0][0]) if instruction.opcode == "store" else bitvec(64)

    def _pieces(self, address: int, size: int, before: int, sort: Sort) -> Term:
        """Bytes written by several stores: their concatenation, highest byte first."""
        if sort.kind is not SortKind.BITVEC or size > 8:
            return Concrete(None, sort, "assembled from several writes")
        byte = bitvec(8)
        parts = [self.read(address + at, 1, before, byte, None) for at in range(size)]
        return Apply(Op.CONCAT, tuple(reversed(parts)), sort)

    def _copied(self, at: int, address: int, size: int, sort: Sort) -> Value:
        """The value that a memset put there; what a memcpy put there is known from its source."""
        if self._recording.tag(at) == records.FILL and size <= 8:
            byte = self._recording.value(at) & 0xFF
            return from_word(int.from_bytes(bytes([byte]) * size, "little"), sort)
        source = self.copy_source(at, address, size, sort)
        return source.value if isinstance(source, Read | Const | Concrete) else None

    def copy_source(self, at: int, address: int, size: int, sort: Sort) -> Term:
        """What a COPY's source held for the bytes that it put at ``address``."""
        to = self._recording.word(at) & records.ADDRESS_MASK
        source = self._recording.value(at) + address - to
        return self.read(source, size, at, sort, None)

    def external_writer(self, address: int, size: int, before: int, after: int) -> int | None:
        """The last call of code that is not traced which may have written the bytes."""
        calls = self._recording.external_calls(before, max(after, 0))
        for call in islice(calls, _CANDIDATE_CALLS):
            if self._may_write(call, address, size):
                return call
        return None

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
            if pointer is not None and pointer - size < address < pointer + _OBJECT_REACH:
                return True
        back = frames.returned(call)
        result = self._recording.value(back) if back >= 0 and instruction.result else 0
        return bool(result) and libc.returns_written(name) and result <= address < result + _OBJECT_REACH

    def _name(self, address: int) -> str:
        placed = self._values.symbols.at(address)
        return placed.variable.name if placed and placed.variable else ""


def _differs(term: Term, value: Value) -> bool:
    from_term = term.value if isinstance(term, Read | Const | Concrete) else _evaluated(term)
    return from_term is not None and from_term != value


def _evaluated(term: Term) -> Value:
    if isinstance(term, Apply) and term.op is Op.EXTRACT and isinstance(term.args[0], Read):
        whole = term.args[0].value
        return whole >> term.parameter & (1 << term.sort.width) - 1 if isinstance(whole, int) else None
    return None
