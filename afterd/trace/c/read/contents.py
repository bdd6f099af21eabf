"""What bytes of memory were at a moment, and which recorded write they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from afterd.limits import C_TRACE
from afterd.logic import UNKNOWN, evaluate
from afterd.model.term import Term, bitvec
from afterd.trace.c.ir.constants import to_word
from afterd.trace.c.read.passed import Passed
from afterd.trace.c.window import records

if TYPE_CHECKING:  # arguments in memory are values, values are read from memory
    from afterd.trace.c.read.values import Values

WORD = 8  # bytes: the widest number a record holds


class Contents:
    """Looks through STORE, COPY and FILL records. Bits are little-endian numbers."""

    def __init__(self, values: Values) -> None:
        self.recording = values.recording
        self.passed = Passed(values)
        self._symbols = values.symbols

    def writer(self, address: int, size: int, before: int) -> int:
        """The last recorded write of any of the bytes before a record; -1 if there is none."""
        while True:
            at = self.recording.last_write(before, address, size)
            if at < 0 or not self.is_passed(at) or self.argument(at, address, size) is not None:
                return at
            before = at  # the record was written for more arguments than there were

    def is_passed(self, at: int) -> bool:
        """Whether a record stands for arguments that a calling convention put into memory."""
        return self.recording.tag(at) == records.COPY and not self.recording.value(at)

    def argument(self, at: int, address: int, size: int) -> Term | None:
        """Such an argument, as bits."""
        return self.passed.term(at, address - self.target(at), size, bitvec(8 * size))

    def target(self, at: int) -> int:
        """The address that a record of memory is about."""
        return self.recording.word(at) & records.ADDRESS_MASK

    def source(self, at: int, address: int) -> int:
        """The address that a COPY took a byte from."""
        return self.recording.value(at) + address - self.target(at)

    def width(self, at: int) -> int:
        """The bytes that a STORE, COPY or FILL wrote."""
        word = self.recording.word(at)
        if word >> records.TAG_SHIFT == records.STORE:
            return word >> records.SIZE_SHIFT & records.SIZE_MASK
        return self.recording.word(at + 1) & records.LENGTH_MASK

    def covers(self, at: int, address: int, size: int) -> bool:
        """Whether a record wrote all of the bytes."""
        return self.target(at) <= address and address + size <= self.target(at) + self.width(at)

    def bits(self, address: int, size: int, before: int) -> int | None:
        """What recorded writes (or a static initialiser) had left in the bytes, if that is known."""
        return self.left_by(self.writer(address, size, before), address, size, before)

    def left_by(self, at: int, address: int, size: int, before: int, deep: int = 0) -> int | None:
        """The same where the last writer is known already."""
        if size > WORD or deep > C_TRACE.contents:
            return None
        if at < 0:
            return self._symbols.initial(address, size)
        if not self.covers(at, address, size):
            return self._assembled(address, size, before, deep)
        match self.recording.tag(at):
            case records.STORE:
                offset = address - self.target(at)
                return (
                    self.recording.value(at) >> 8 * offset & mask(size)
                    if self.width(at) <= WORD
                    else None
                )
            case records.FILL:
                return int.from_bytes(bytes([self.recording.value(at) & 0xFF]) * size, "little")
        if self.is_passed(at):
            return self._passed_bits(at, address, size)
        source = self.source(at, address)
        return self.left_by(self.writer(source, size, at), source, size, at, deep + 1)

    def _assembled(self, address: int, size: int, before: int, deep: int) -> int | None:
        total = 0
        for at in range(size):
            writer = self.writer(address + at, 1, before)
            byte = self.left_by(writer, address + at, 1, before, deep)
            if byte is None:
                return None
            total |= byte << 8 * at
        return total

    def _passed_bits(self, at: int, address: int, size: int) -> int | None:
        term = self.argument(at, address, size)
        value = evaluate(term) if term is not None else UNKNOWN
        return to_word(value, bitvec(8 * size)) if isinstance(value, int) else None


def mask(size: int) -> int:
    """All ones in some bytes."""
    return (1 << 8 * size) - 1
