"""The bytes that a global variable has before the program runs, from its definition's text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from afterd.limits import C_TRACE
from afterd.trace.c.ir.constants import literal, to_word
from afterd.trace.c.ir.irtypes import Layout, split_top
from afterd.trace.c.ir.recorded import split_typed

AddressOf = Callable[[str], int | None]
"""The address of a symbol (with @) in the traced process."""

_KEYWORD = re.compile(r"(?:^| )(?:global|constant) ")
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2})")
_ELEMENT = re.compile(r"[\[<](\d+) x (.+)[\]>]$", re.DOTALL)
_GEP = re.compile(r"getelementptr (?:(?:inbounds|nuw|nusw|inrange\([^)]*\)) )*\((.*)\)$", re.DOTALL)
_CAST = re.compile(
    r"(?:ptrtoint|inttoptr|bitcast|trunc|zext|addrspacecast) \((.*) to [^)]*\)$", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Image:
    """The initial bytes of a variable; ``known`` is 1 where a byte is."""

    data: bytes
    known: bytes

    def bits(self, offset: int, size: int) -> int | None:
        """Some bytes as a little-endian number; None where one is outside or not known."""
        if offset < 0 or offset + size > len(self.data) or 0 in self.known[offset : offset + size]:
            return None
        return int.from_bytes(self.data[offset : offset + size], "little")


def type_and_value(definition: str) -> tuple[str, str]:
    """The type of a global's definition and its initialiser (empty for a declaration)."""
    found = _KEYWORD.search(definition)
    return split_typed(split_top(definition[found.end() :])[0]) if found else ("", "")


def text_of(value: str) -> bytes | None:
    """The bytes of a ``c"…"`` literal."""
    if not value.startswith('c"'):
        return None
    raw = value[2:].rpartition('"')[0].encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(lambda found: bytes([int(found.group(1), 16)]), raw)


def image_of(definition: str, layout: Layout, address_of: AddressOf) -> Image | None:
    """The initial bytes of a global; None for a declaration or a type whose size is not known."""
    kind, value = type_and_value(definition)
    size = layout.size(kind)
    if not value or not 0 < size <= C_TRACE.table:
        return None
    writer = _Writer(layout, address_of, bytearray(size), bytearray(b"\1" * size))
    writer.write(0, kind, value)
    return Image(bytes(writer.data), bytes(writer.known))


def constant_bits(kind: str, text: str, layout: Layout, address_of: AddressOf) -> int | None:
    """The bits of a scalar constant, constant expressions included; None where they are not known."""
    return _Writer(layout, address_of, bytearray(), bytearray()).number(kind, text)


@dataclass(frozen=True, slots=True)
class _Writer:
    layout: Layout
    address_of: AddressOf
    data: bytearray
    known: bytearray

    def write(self, at: int, kind: str, value: str) -> None:
        """Write a constant of a type; what is not understood is marked unknown."""
        text = text_of(value)
        element = _ELEMENT.match(kind) if not kind.startswith("<{") else None
        if value in {"zeroinitializer", "null"}:
            return
        if text is not None:
            self.data[at : at + len(text)] = text
        elif self.layout.fields(kind) and value[0] in "{<":
            inner = value[2:-2] if value.startswith("<{") else value[1:-1]
            for number, part in enumerate(split_top(inner)):
                self.write(at + self.layout.offset(kind, number), *split_typed(part))
        elif element and value[0] in "[<":
            size = self.layout.size(element.group(2))
            for number, part in enumerate(split_top(value[1:-1])):
                self.write(at + number * size, *split_typed(part))
        else:
            self._scalar(at, kind, value)

    def _scalar(self, at: int, kind: str, value: str) -> None:
        size = self.layout.stored(kind)
        number = self.number(kind, value)
        if number is None:
            self.known[at : at + size] = bytes(size)
        else:
            self.data[at : at + size] = (number & (1 << 8 * size) - 1).to_bytes(size, "little")

    def number(self, kind: str, value: str) -> int | None:
        """The bits of a scalar."""
        if value.startswith("@"):
            return self.address_of(value)
        if gep := _GEP.match(value):
            return self._address(gep.group(1))
        if cast := _CAST.match(value):
            return self.number(*split_typed(cast.group(1)))
        constant = literal(kind, value)
        return to_word(constant.value, constant.sort) if constant else None

    def _address(self, body: str) -> int | None:
        """A constant getelementptr."""
        current, base, *indices = split_top(body)
        total = self.number(*split_typed(base))
        for number, part in enumerate(indices):
            kind, text = split_typed(part)
            index = self.number(kind, text)
            if total is None or index is None:
                return None
            index -= (1 << 64) if index >> 63 else 0
            if number and self.layout.fields(current):
                total += self.layout.offset(current, index)
                current = self.layout.fields(current)[index]
            else:
                element = _ELEMENT.match(current) if number else None
                current = element.group(2) if element else current
                total += index * self.layout.size(current)
        return total
