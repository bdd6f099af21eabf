"""What printf and its like were given: conversions of a format, and the argument of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from afterd.limits import C_TRACE
from afterd.model.term import Read, Term, bitvec, reads
from afterd.trace.c.ir.constants import sort_of
from afterd.trace.c.ir.initialisers import text_of, type_and_value
from afterd.trace.c.ir.recorded import arguments, callee
from afterd.trace.c.read.frames import Call
from afterd.trace.c.read.passed import WORDS_END, next_argument
from afterd.trace.c.read.values import Values, known_value

_FORMATTED = {
    "@printf": 0,
    "@fprintf": 1,
    "@dprintf": 1,
    "@error": 2,
    "@error_at_line": 4,
    "@warn": 0,
    "@warnx": 0,
    "@err": 1,
    "@errx": 1,
    "@syslog": 1,
}
LISTED = {
    "@vprintf": 0,
    "@vfprintf": 1,
    "@vdprintf": 1,
    "@vsprintf": 1,
    "@vsnprintf": 2,
    "@vasprintf": 1,
    "@vwarn": 0,
    "@vwarnx": 0,
    "@verr": 1,
    "@verrx": 1,
    "@vsyslog": 1,
}
"""Functions that are given a va_list, and where their format stands before it."""
_INTO_MEMORY = frozenset(["@vsprintf", "@vsnprintf", "@vasprintf"])
MESSAGES = frozenset(["@error", "@error_at_line"]) | {
    f"@{v}{name}" for v in ("", "v") for name in ("warn", "warnx", "err", "errx")
}
WRITTEN = frozenset({*_FORMATTED, *LISTED} - _INTO_MEMORY)
"""Those that write to a descriptor; ``MESSAGES`` write more than their format says."""
_CONVERSION = re.compile(
    rb"%[-+ #0']*(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|q|j|z|t|L)?([diouxXeEfFgGaAcspnm%])"
)
_LONG = frozenset([b"l", b"ll", b"q", b"j", b"z", b"t"])


@dataclass(frozen=True, slots=True)
class Conversion:
    """What prints some bytes: the ``number``-th variable argument, of an LLVM type.

    ``begins`` is where in the written bytes its own begin; -1 where that could not be told. ``inside``:
    the byte in question is surely one of them, for nothing else of any length was printed.
    ``stars`` are the arguments that give its width and its precision.
    """

    number: int
    kind: str
    begins: int = -1
    stars: tuple[int, ...] = ()
    inside: bool = False


def listed_reads(values: Values, call: Call) -> list[Read]:
    """What the arguments in a call's va_list were read from; of a text, what wrote its first byte."""
    found: list[Read] = []
    for _, _, conversion in conversions(format_of(values, call) or b""):
        for number, kind in (
            (conversion.number, conversion.kind),
            *((star, "i32") for star in conversion.stars),
        ):
            term = argument(values, call, Conversion(number, kind)) if number >= 0 else None
            if term is None:
                continue
            found += reads(term)
            address = known_value(term)
            if kind == "ptr" and isinstance(address, int) and address:
                moment = values.moment(call.instance, call.index)
                found += reads(values.memory.read(address, 1, moment, bitvec(8), None))
    return found


def _format_at(name: str) -> int:
    return {**_FORMATTED, **LISTED}[name]


def argument(values: Values, call: Call, conversion: Conversion) -> Term | None:
    """A variable argument of a call of printf, or of one that was given a list of them."""
    name, given = callee(call.instruction), arguments(call.instruction)
    first = _format_at(name) + 1
    if name in _FORMATTED:
        if first + conversion.number >= len(given):
            return None
        return values.operand(*given[first + conversion.number], call.instance, call.index)
    pointer = values.pointer_value(*given[first], call.instance, call.index)
    kinds = [other.kind for _, _, other in conversions(format_of(values, call) or b"")]
    return _listed(values, call, pointer, kinds, conversion.number) if pointer else None


def _listed(values: Values, call: Call, pointer: int, kinds: list[str], wanted: int) -> Term | None:
    """The ``wanted``-th argument of a va_list, by the kinds of those before it."""
    moment = values.moment(call.instance, call.index)
    read = values.memory.read
    fields = [read(pointer + 4 * at, 4, moment, bitvec(32), None) for at in (0, 1)]
    fields += [read(pointer + 8 * at, 8, moment, bitvec(64), None) for at in (1, 2)]
    places = [known_value(field) for field in fields]
    state = tuple(place for place in places if isinstance(place, int))
    if len(state) != len(places) or state[0] > WORDS_END:
        return None
    for number, kind in enumerate(kinds):
        address, size, state = next_argument(kind, state)
        if number == wanted:
            return read(address, size, moment, sort_of(kind), None)
    return None


def format_of(values: Values, call: Call) -> bytes | None:
    """The format string: a literal, or what is in memory there."""
    kind, text = arguments(call.instruction)[_format_at(callee(call.instruction))]
    found = call.instance.view.unit.globals.get(text.removeprefix("@"))
    literal = text_of(type_and_value(found.definition)[1]) if found else None
    if literal is not None:
        return literal.partition(b"\0")[0]
    pointer = values.pointer_value(kind, text, call.instance, call.index)
    return _string(values, call, pointer) if pointer else None


def _string(values: Values, call: Call, pointer: int) -> bytes | None:
    """A string in memory; None where a byte of it is not known."""
    moment = values.moment(call.instance, call.index)
    text = bytearray()
    for at in range(C_TRACE.format):
        byte = values.memory.byte(pointer + at, moment)
        if not byte:
            return bytes(text) if byte == 0 else None
        text.append(byte)
    return None


def conversions(text: bytes) -> Iterator[tuple[int, int, Conversion]]:
    """Every conversion of a format with where it stands; ``*`` takes an argument of its own."""
    number = 0
    for found in _CONVERSION.finditer(text):
        width, precision, length, letter = found.groups()
        stars = tuple(range(number, number + (width == b"*") + (precision == b"*")))
        for star in stars:
            yield found.start(), found.start(), Conversion(star, "i32")
        number += len(stars)
        if letter in b"%m":
            yield found.start(), found.end(), Conversion(-1, "")
            continue
        yield found.start(), found.end(), Conversion(number, _kind(length, letter), -1, stars)
        number += 1


def _kind(length: bytes | None, letter: bytes) -> str:
    if letter in b"spn":
        return "ptr"
    if letter in b"eEfFgGaA":
        return "x86_fp80" if length == b"L" else "double"
    return "i64" if length in _LONG else "i32"
