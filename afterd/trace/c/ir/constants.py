"""Literals of LLVM IR and machine words as values of a sort."""

from __future__ import annotations

import struct

from afterd.model.term import BOOL, OPAQUE, Const, Sort, SortKind, Value, bitvec, ieee
from afterd.trace.c.ir.irtypes import scalar_bits

_EXPONENT_BIAS, _MANTISSA = 16383, 63  # of an x86 long double


def sort_of(kind: str) -> Sort:
    """The sort of an LLVM scalar type: i1 is BOOL, ptr 64 bits; OPAQUE for what no term follows."""
    if kind == "i1":
        return BOOL
    if kind in {"float", "double"}:
        return ieee(scalar_bits(kind))
    bits = scalar_bits(kind)
    if bits and not kind.startswith(("half", "bfloat", "x86", "fp128")):
        return bitvec(bits)
    return OPAQUE


def from_word(word: int, sort: Sort) -> Value:
    """The value that a record's 64-bit word holds for a cell of this sort; None when it does not fit."""
    match sort.kind:
        case SortKind.BOOL:
            return bool(word & 1)
        case SortKind.BITVEC:
            return word & (1 << sort.width) - 1 if sort.width <= 64 else None
        case SortKind.FLOAT if sort.width == 32:
            return float(struct.unpack("<f", struct.pack("<I", word & 0xFFFFFFFF))[0])
        case SortKind.FLOAT:
            return float(struct.unpack("<d", struct.pack("<Q", word))[0])
    return None


def recorded_value(word: int, kind: str) -> Value:
    """The value that a record's second word holds for an LLVM type; a long double as a rounded one."""
    return from_word(word, ieee(64) if kind == "x86_fp80" else sort_of(kind))


def to_word(value: Value, sort: Sort) -> int | None:
    """The bits of a value in memory; None for what has none."""
    if isinstance(value, float) and sort.kind is SortKind.FLOAT:
        narrow = sort.width == 32
        packed = struct.pack("<f" if narrow else "<d", value)
        return int.from_bytes(packed, "little")
    if isinstance(value, bool | int) and sort.kind in {SortKind.BOOL, SortKind.BITVEC}:
        return int(value)
    return None


def literal(kind: str, text: str) -> Const | None:
    """A literal operand as a constant; None for registers, symbols and constant expressions."""
    sort = sort_of(kind)
    if text in {"null", "zeroinitializer", "none"}:
        return Const(0 if sort.kind is SortKind.BITVEC else from_word(0, sort), sort)
    if text in {"true", "false"}:
        return Const(text == "true", BOOL)
    if sort.kind is SortKind.BITVEC and text.lstrip("-").isdigit():
        return Const(int(text) & (1 << sort.width) - 1, sort)
    if sort.kind is SortKind.FLOAT:
        return _float(text, sort)
    if kind == "x86_fp80" and text.startswith("0xK"):
        return Const(_long_double(int(text[3:], 16)), OPAQUE)
    return None


def _float(text: str, sort: Sort) -> Const | None:
    if text.startswith("0x"):
        return Const(float(struct.unpack(">d", bytes.fromhex(text[2:].zfill(16)))[0]), sort)
    try:
        return Const(float(text), sort)
    except ValueError:
        return None


def _long_double(bits: int) -> float | None:
    """The 80 bits of an x86 long double, rounded; None for what is not finite."""
    sign, exponent = bits >> 79, bits >> 64 & 0x7FFF
    if exponent == 0x7FFF:
        return None
    fraction = bits & (1 << 64) - 1
    shift = exponent - _EXPONENT_BIAS - _MANTISSA
    try:
        magnitude = float(fraction << shift) if shift >= 0 else fraction / (1 << -shift)
    except OverflowError:
        return None
    return -magnitude if sign else magnitude
