"""Sizes of LLVM types on a 64-bit target, from their text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

_INTEGER = re.compile(r"i(\d+)$")
_FLOATS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "x86_fp80": 80, "fp128": 128}
_ARRAY = re.compile(r"[\[<](?:vscale x )?(\d+) x (.+)[\]>]$", re.DOTALL)


def scalar_bits(kind: str) -> int:
    """Bits of a scalar type: i1 is 1, ptr 64; 0 for vectors, aggregates and anything else."""
    if kind.startswith("ptr"):
        return 64
    integer = _INTEGER.match(kind)
    return int(integer.group(1)) if integer else _FLOATS.get(kind, 0)


def split_top(text: str, separator: str = ",") -> list[str]:
    """Split at separators that stand outside every bracket and string."""
    parts: list[str] = []
    depth = start = 0
    quoted = False
    for at, letter in enumerate(text):
        if letter == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
        elif letter == separator and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return parts


class Layout:
    """Sizes, alignments and offsets under the natural alignment that clang uses on 64-bit targets.

    ``named`` maps a struct's name (with %) to its body text.
    """

    def __init__(self, named: Mapping[str, str]) -> None:
        self._named = named
        self.size_and_alignment = cache(self._size_and_alignment)
        self.fields = cache(self._fields)
        self.offset = cache(self._offset)

    def size(self, kind: str) -> int:
        """Bytes between two elements of an array of this type (LLVM's alloc size); 0 if unknown."""
        return self.size_and_alignment(kind.strip())[0]

    def stored(self, kind: str) -> int:
        """Bytes that a store of this type writes: 10 for an x86_fp80, of which an array has 16."""
        bits = scalar_bits(kind)
        return (bits + 7) // 8 if bits else self.size(kind)

    def _fields(self, kind: str) -> tuple[str, ...]:
        """The element types of a struct type; none of another one."""
        body = self._named.get(kind, kind).strip()
        packed = body.startswith("<{")
        inner = body[2:-2] if packed else body[1:-1]
        is_struct = body.startswith(("{", "<{")) and inner.strip()
        return tuple(split_top(inner)) if is_struct else ()

    def _offset(self, kind: str, field: int) -> int:
        """The byte offset of a struct's field."""
        packed = self._named.get(kind, kind).strip().startswith("<{")
        at = 0
        for number, part in enumerate(self.fields(kind)):
            size, alignment = self.size_and_alignment(part)
            at = at if packed else _rounded_up(at, alignment)
            if number == field:
                return at
            at += size
        return at

    def _size_and_alignment(self, kind: str) -> tuple[int, int]:
        if kind == "x86_fp80":
            return 16, 16
        bits = scalar_bits(kind)
        if bits:
            size = 1 << max(0, (bits - 1).bit_length() - 3)
            return size, min(size, 16)
        array = _ARRAY.match(kind)
        if array and not kind.startswith("<{"):
            size, alignment = self.size_and_alignment(array.group(2))
            return int(array.group(1)) * size, alignment
        parts = [self.size_and_alignment(part) for part in self.fields(kind)]
        if not parts:
            return 0, 1
        if self._named.get(kind, kind).strip().startswith("<{"):
            return sum(size for size, _ in parts), 1
        at = 0
        for size, alignment in parts:
            at = _rounded_up(at, alignment) + size
        widest = max(alignment for _, alignment in parts)
        return _rounded_up(at, widest), widest


def _rounded_up(at: int, alignment: int) -> int:
    return (at + alignment - 1) // alignment * alignment
