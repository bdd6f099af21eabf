"""Text in the executed program's memory, and printf's view of its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from afterd.logic.evaluate import signed
from afterd.model.term import Value, bitvec
from afterd.tracing.program.memory import Memory
from afterd.tracing.program.operations import Known

CONVERSION = re.compile(
    r"%[-+ #0']*(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|q|j|z|t|L)?([diouxXeEfFgGcspn%])"
)
_LONGEST = 1 << 16


def text_at(memory: Memory, address: int, most: int = _LONGEST) -> bytes:
    """The bytes before the next zero."""
    found = bytearray()
    while len(found) < most:
        byte = memory.read(address + len(found), 1)
        if byte == b"\0":
            break
        found += byte
    return bytes(found)


def characters(memory: Memory, address: int, text: bytes) -> list[Known]:
    """A text's bytes with their terms, where one of them has a term; otherwise the text as one value."""
    known = [memory.load(address + at, 1, bitvec(8)) for at in range(len(text) + 1)]
    if all(term is None for _, term in known):
        return [(text, None)]
    return known


def shown_by(memory: Memory, form: str, given: Sequence[Known]) -> tuple[str, list[Known]]:
    """What printf shows: the format without how strings are long, and the values in it."""
    values: list[Known] = []
    arguments = iter(given)
    for found in CONVERSION.finditer(form):
        letter = found.group(4)
        if letter == "%":
            continue
        stars = found.group(1, 2).count("*")
        values += [next(arguments, (0, None)) for _ in range(stars)]
        known = next(arguments, (0, None))
        if letter == "s" and isinstance(known[0], int):
            text = text_at(memory, known[0]) if known[0] else b"(null)"
            values += characters(memory, known[0], text) if known[0] else [(text, None)]
        elif letter == "p":
            values.append(("an address", None))
        else:
            values.append(known)
    return form, values


def rendered(memory: Memory, form: str, given: Sequence[Known]) -> bytes:
    """The bytes that printf makes."""
    arguments: Iterator[Value] = (value for value, _ in given)

    def one(found: re.Match[str]) -> str:
        letter = found.group(4)
        if letter == "%":
            return "%"
        text = found.group(0)
        for size in found.group(1, 2):
            if size == "*":
                text = text.replace("*", str(signed(int(_number(next(arguments, 0))), 32)), 1)
        value = next(arguments, 0)
        plain = text.replace(found.group(3) or "", "") if found.group(3) else text
        return str(plain.replace("u", "d") % _shown(memory, letter, found.group(3), value))

    return CONVERSION.sub(one, form).encode("latin-1", "replace")


def _shown(memory: Memory, letter: str, size: str | None, value: Value) -> object:
    if letter == "s":
        address = int(_number(value))
        return text_at(memory, address).decode("latin-1") if address else "(null)"
    if letter == "c":
        return chr(int(_number(value)) & 0xFF)
    if letter in "di":
        return signed(int(_number(value)), 64 if size in {"l", "ll", "j", "z", "t", "q"} else 32)
    return value if letter in "eEfFgG" else int(_number(value))


def _number(value: Value) -> int | float:
    return value if isinstance(value, int | float) else 0
