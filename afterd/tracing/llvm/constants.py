"""Literals of LLVM IR and machine words as values of a sort."""

from __future__ import annotations

import struct

from afterd.model.term import BOOL, OPAQUE, Const, Sort, SortKind, Value, bitvec, ieee
from afterd.tracing.llvm.irtypes import scalar_bits


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


def literal(kind: str, text: str) -> Const | None:
    """A literal operand as a constant; None for registers, symbols and constant expressions."""
    sort = sort_of(kind)
    if text in {"null", "zeroinitializer", "none"}:
        return Const(from_word(0, sort), sort)
    if text in {"true", "false"}:
        return Const(text == "true", BOOL)
    if sort.kind is SortKind.BITVEC and text.lstrip("-").isdigit():
        return Const(int(text) & (1 << sort.width) - 1, sort)
    if sort.kind is SortKind.FLOAT:
        return _float(text, sort)
    return None


def _float(text: str, sort: Sort) -> Const | None:
    if text.startswith("0x"):
        return Const(float(struct.unpack(">d", bytes.fromhex(text[2:].zfill(16)))[0]), sort)
    try:
        return Const(float(text), sort)
    except ValueError:
        return None
