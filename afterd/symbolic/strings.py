"""Text in the executed program's memory, and printf's view of its arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from afterd.limits import MACHINE
from afterd.logic import distinct_reads, signed_value
from afterd.model.term import BOOL, Apply, Concrete, Const, Op, Term, Value, bitvec
from afterd.symbolic.addresses import place_of_no_object
from afterd.symbolic.memory import Memory
from afterd.symbolic.operations import Known
from afterd.symbolic.refusal import SideEndedError

CONVERSION = re.compile(
    r"%[-+ #0']*(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|q|j|z|t|L)?([diouxXeEfFgGcspn%])"
)


def text_at(memory: Memory, address: int, most: int = MACHINE.string) -> bytes:
    """The bytes before the next zero."""
    found = bytearray()
    while len(found) < most:
        byte = memory.read(address + len(found), 1)
        if byte == b"\0":
            break
        found += byte
    return bytes(found)


@dataclass(frozen=True, slots=True)
class Text:
    """A string that is shown; ``pointer`` is what pointed at it, ``places`` where else that may point."""

    value: bytes
    pointer: Known = (0, None)
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Rounded:
    """A float that is shown as far as it is printed; ``exact`` is what it is."""

    value: float
    exact: Known


Displayed = Known | Text | Rounded
Places = Callable[[int, Term], Sequence[int]]
"""Where a pointer's term may point, the run's address among them."""


def is_text(memory: Memory, address: int, wanted: bytes) -> tuple[Term | None, bool]:
    """What must hold for a text to stand at an address (None: nothing can change that), and if it does."""
    whole = wanted + b"\0"
    try:
        known = [memory.load(address + at, 1, bitvec(8)) for at in range(len(whole))]
    except SideEndedError:
        return None, False
    held = all(value == byte for (value, _), byte in zip(known, whole, strict=True))
    if any(
        term is None and value != byte for (value, term), byte in zip(known, whole, strict=True)
    ):
        return None, False
    found: Term | None = None
    for (_, term), byte in zip(known, whole, strict=True):
        if term is not None:
            same = Apply(Op.EQ, (term, Const(byte, bitvec(8))), BOOL)
            found = same if found is None else Apply(Op.AND, (found, same), BOOL)
    return found, held


def string_shows(memory: Memory, text: Text, wanted: bytes) -> tuple[Term | None, bool]:
    """What must hold for a shown string to be as wanted: its bytes are, or it is another string. Where
    the program has none with these bytes, it is one that a repair would write.
    """
    address, term = text.pointer
    assert isinstance(address, int)
    if term is None:
        return is_text(memory, address, wanted)
    held = text.value == wanted
    found: Term | None = None
    for place in dict.fromkeys((address, *text.places, *memory.places_of(wanted + b"\0"))):
        match, matches = is_text(memory, place, wanted)
        if match is None and not matches:
            continue
        here: Term = Apply(Op.EQ, (term, Const(place, term.sort)), BOOL)
        here = here if match is None else Apply(Op.AND, (here, match), BOOL)
        found = here if found is None else Apply(Op.OR, (found, here), BOOL)
    if found is None:
        found = Apply(Op.EQ, (term, Const(place_of_no_object(wanted), term.sort)), BOOL)
    return found, held


def shown_by(
    memory: Memory, form: str, given: Sequence[Known], places: Places
) -> tuple[str, list[Displayed]]:
    """What printf shows: the format without how strings are long, and the values in it."""
    values: list[Displayed] = []
    arguments = iter(given)
    for found in CONVERSION.finditer(form):
        letter = found.group(4)
        if letter == "%":
            continue
        stars = found.group(1, 2).count("*")
        values += [next(arguments, (0, None)) for _ in range(stars)]
        known = next(arguments, (0, None))
        if letter == "s" and isinstance(known[0], int):
            values.append(_text(memory, known[0], known[1], places))
        elif letter == "p":
            values.append(("an address", None))
        elif letter in "eEfFgG" and isinstance(known[0], float):
            values.append(_as_shown(found, known[0], known[1]))
        else:
            values.append(known)
    return form, values


def shows_number(shown: Rounded, wanted: Value) -> tuple[Term | None, bool]:
    """What must hold for a float to be shown as wanted (None: nothing can change that), and if it is.

    Behind the last digit it may differ. Where it is shown as wanted it is taken for right, so it has to
    stay what it is: what is computed from another one is not known, and would be whatever is wanted.
    """
    value, term = shown.exact
    held = repr(shown.value) == repr(wanted)
    if term is None or not isinstance(wanted, float):
        return None, held
    if held:
        return Apply(Op.EQ, (term, Const(value, term.sort)), BOOL), True
    printed = Concrete(shown.value, term.sort, "what printf shows", tuple(distinct_reads(term)))
    return Apply(Op.EQ, (printed, Const(wanted, term.sort)), BOOL), False


def _as_shown(found: re.Match[str], value: float, term: Term | None) -> Displayed:
    """A float as far as it is printed: what differs behind the last digit is no other output."""
    digits = {None: "6", "*": "17"}.get(found.group(2), found.group(2))
    return Rounded(float(f"%.{digits}{found.group(4)}" % value), (value, term))


def _text(memory: Memory, address: int, term: Term | None, places: Places) -> Displayed:
    if not address:
        return b"(null)", None
    others = () if term is None else tuple(places(address, term))
    return Text(text_at(memory, address), (address, term), others)


def rendered_format(memory: Memory, form: str, given: Sequence[Known]) -> bytes:
    """The bytes that printf makes."""
    return printed_bytes(form, [value for value, _ in given], memory)


def printed_bytes(form: str, values: Sequence[Value], memory: Memory | None = None) -> bytes:
    """The bytes that printf makes of values; without a memory strings are given as bytes."""
    arguments: Iterator[Value] = iter(values)

    def one(found: re.Match[str]) -> str:
        letter = found.group(4)
        if letter == "%":
            return "%"
        text = found.group(0)
        for before, size in zip(("", "."), found.group(1, 2), strict=True):
            if size == "*":
                given = signed_value(int(_number(next(arguments, 0))), 32)
                # C: a negative precision is none, a negative width is one of the other side.
                said = "" if before and given < 0 else f"{before}{given}"
                text = text.replace(f"{before}*", said, 1)
        value = next(arguments, 0)
        plain = text.replace(found.group(3) or "", "") if found.group(3) else text
        return str(plain.replace("u", "d") % _shown_argument(memory, letter, found.group(3), value))

    return CONVERSION.sub(one, form).encode("latin-1", "replace")


def _shown_argument(memory: Memory | None, letter: str, size: str | None, value: Value) -> object:
    if letter == "s" and isinstance(value, bytes):
        return value.decode("latin-1")
    if letter == "s" and memory is not None:
        address = int(_number(value))
        return text_at(memory, address).decode("latin-1") if address else "(null)"
    if letter == "c":
        return chr(int(_number(value)) & 0xFF)
    if letter in "di":
        return signed_value(
            int(_number(value)), 64 if size in {"l", "ll", "j", "z", "t", "q"} else 32
        )
    return value if letter in "eEfFgG" else int(_number(value))


def _number(value: Value) -> int | float:
    return value if isinstance(value, int | float) else 0
