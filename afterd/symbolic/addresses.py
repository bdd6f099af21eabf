"""Addresses as terms: as narrow as memory is, and compared by what they point into.

A pointer is 64 bits wide, and memory is not: what a repair makes of a pointer is an address in memory or
null, so the bits above are nobody's question. A field's address is told apart by what the pointer to its object is.
"""

from __future__ import annotations

from zlib import crc32

from afterd.limits import MACHINE
from afterd.model.term import BOOL, Apply, Const, Op, Term, bitvec
from afterd.symbolic.memory import FIRST

WORD = bitvec(64)
_END = FIRST + MACHINE.memory
ADDRESS = bitvec(_END.bit_length())
"""Wide enough for each place in memory, and for places behind it."""


def is_address(value: object) -> bool:
    """Whether a value can be one: what a program makes of -1, say, cannot."""
    return isinstance(value, int) and 0 <= value < 1 << ADDRESS.width


def place_of_no_object(text: bytes) -> int:
    """The address that stands for a text which the program has nowhere."""
    return _END + crc32(text) % ((1 << ADDRESS.width) - _END)


def narrow_address(address: Term) -> Term:
    """The bits of an address that memory has."""
    if isinstance(address, Apply) and address.op is Op.ZEXT and address.args[0].sort == ADDRESS:
        return address.args[0]
    return Apply(Op.EXTRACT, (address,), ADDRESS, 0)


def wide_address(address: Term) -> Term:
    """A narrow address as the program has it."""
    return Apply(Op.ZEXT, (address,), WORD)


def is_place(address: Term, place: int) -> Term:
    """Whether an address is this place."""
    base, moved = _from_object(address)
    return Apply(Op.EQ, (base, Const((place - moved) % (1 << 64), WORD)), BOOL)


def points_somewhere(address: Term) -> Term:
    """Whether it is no null pointer, nor a field of what a null pointer points to."""
    base, _ = _from_object(address)
    return Apply(Op.UGE, (base, Const(FIRST, WORD)), BOOL)


def _from_object(address: Term) -> tuple[Term, int]:
    """What an address was moved from by constants, and by how much."""
    moved = 0
    while isinstance(address, Apply) and address.op is Op.ADD:
        base, by = address.args
        if not isinstance(by, Const) or not isinstance(by.value, int):
            break
        address, moved = base, moved + by.value
    return address, moved
