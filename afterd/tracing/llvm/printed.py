"""Which value made the byte of an output that was not as in green."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from afterd.model.term import Const, SortKind, Term, bitvec
from afterd.tracing.llvm.constants import sort_of
from afterd.tracing.llvm.failed import Call, another_value
from afterd.tracing.llvm.initialisers import text_of, type_and_value
from afterd.tracing.llvm.outputs import Departure
from afterd.tracing.llvm.passed import WORDS_END, next_argument
from afterd.tracing.llvm.process import Process
from afterd.tracing.llvm.recorded import arguments, callee
from afterd.tracing.llvm.values import known

_FORMATTED = {"@printf": 0, "@fprintf": 1, "@dprintf": 1}
_LISTED = {"@vprintf": 0, "@vfprintf": 1, "@vdprintf": 1}
_BUFFERS = {"@write": 1, "@fwrite": 0, "@fwrite_unlocked": 0}
_LENGTHS = {"@write": (2,), "@fwrite": (1, 2), "@fwrite_unlocked": (1, 2)}
_TEXTS = {"@puts": 0, "@fputs": 0, "@fputs_unlocked": 0, "@perror": 0}
_CONVERSION = re.compile(
    rb"%[-+ #0']*(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|q|j|z|t|L)?([diouxXeEfFgGaAcspnm%])"
)
_LONG = frozenset([b"l", b"ll", b"q", b"j", b"z", b"t"])
_LONGEST_FORMAT = 1024
_BEFORE = 4096  # bytes before the departure at which a printed string may begin


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


def printed_otherwise(
    process: Process, call: Call, departure: Departure, green: Process, other: Call | None
) -> Term | None:
    """That green printed the same, over the argument or the byte that made the difference."""
    name, given = callee(call.instruction), arguments(call.instruction)
    if name in _FORMATTED or name in _LISTED:
        return _formatted(process, call, departure, green, other)
    if name in _BUFFERS and other is not None and callee(other.instruction) == name:
        cut = _cut(process, call, departure, green, other)
        if cut is not None:
            return cut
    if name in _BUFFERS or name in _TEXTS:
        kind, text = given[{**_BUFFERS, **_TEXTS}[name]]
        pointer = process.values.pointer_value(kind, text, call.instance, call.index)
        ends = name in _TEXTS and departure.bad and departure.offset >= len(departure.bad.data)
        if not pointer:
            return None
        return _byte(process, call, pointer, departure.offset, departure, ends=bool(ends))
    if not given or not given[0][0].startswith("i"):
        return None
    term = process.values.operand(*given[0], call.instance, call.index)
    same = other is not None and callee(other.instruction) == name
    wanted = (
        green.values.operand(*arguments(other.instruction)[0], other.instance, other.index)
        if same and other
        else None
    )
    return another_value(term, _constant(wanted))


def _formatted(
    process: Process, call: Call, departure: Departure, green: Process, other: Call | None
) -> Term | None:
    conversion = _conversion(process, call, departure)
    if conversion is None:
        return None
    theirs = _green_conversion(green, other, departure) if other else None
    there = (green, other, theirs) if other and theirs else None
    star = _of_stars(process, call, conversion, there, departure)
    term = star or _argument(process, call, conversion)
    if star is not None or term is None:
        return star
    if conversion.kind == "ptr":
        return _byte_of_text(process, call, term, departure, conversion)
    return another_value(term, _constant(_argument(*there) if there else None))


_There = tuple[Process, Call, Conversion]
"""The green run's call and the conversion in it that printed the other byte."""


def _green_conversion(green: Process, other: Call, departure: Departure) -> Conversion | None:
    if callee(other.instruction) not in {**_FORMATTED, **_LISTED}:
        return None
    return _conversion(green, other, departure.swapped())


def _of_stars(
    process: Process,
    call: Call,
    conversion: Conversion,
    there: _There | None,
    departure: Departure,
) -> Term | None:
    """That a width or a precision was green's, where it was not."""
    if there is None:
        return None
    green, other, theirs = there
    begin_alike = departure.offset == departure.green_offset
    # Two calls merged into one differ in length for no reason: within a text its byte is to blame.
    if not _at_an_end(departure) and (conversion.kind == "ptr" or not begin_alike):
        return None
    for mine, number in zip(conversion.stars, theirs.stars, strict=False):
        here = _argument(process, call, Conversion(mine, "i32"))
        wanted = _constant(_argument(green, other, Conversion(number, "i32")))
        if here is not None and wanted is not None and known(here) != wanted.value:
            return another_value(here, wanted if begin_alike else None)
    return None


def _at_an_end(departure: Departure) -> bool:
    """Whether one run's event ends where the runs depart."""
    bad, green = departure.bad, departure.green
    mine = bad is not None and departure.offset >= len(bad.data)
    return mine or (green is not None and departure.green_offset >= len(green.data))


def _cut(
    process: Process, call: Call, departure: Departure, green: Process, other: Call
) -> Term | None:
    """That as many bytes were written as in green, where one run wrote what the other began with."""
    if departure.bad is None or departure.green is None:
        return None
    if departure.offset < min(len(departure.bad.data), len(departure.green.data)):
        return None
    for at in _LENGTHS[callee(call.instruction)]:
        here, there = (
            run.values.operand(*arguments(which.instruction)[at], which.instance, which.index)
            for run, which in ((process, call), (green, other))
        )
        if known(here) != known(there):
            return another_value(here, _constant(there))
    return None


def _constant(term: Term | None) -> Const | None:
    """The value of a term of the green run, where it is known."""
    value = known(term) if term is not None else None
    if term is None or value is None or term.sort.kind is SortKind.OPAQUE:
        return None
    return Const(value, term.sort)


def _format_at(name: str) -> int:
    return {**_FORMATTED, **_LISTED}[name]


def _argument(process: Process, call: Call, conversion: Conversion) -> Term | None:
    """A variable argument of a call of printf, or of one that was given a list of them."""
    name, given = callee(call.instruction), arguments(call.instruction)
    first = _format_at(name) + 1
    if name in _FORMATTED:
        if first + conversion.number >= len(given):
            return None
        return process.values.operand(*given[first + conversion.number], call.instance, call.index)
    pointer = process.values.pointer_value(*given[first], call.instance, call.index)
    kinds = [other.kind for _, _, other in _conversions(_format(process, call) or b"")]
    return _listed(process, call, pointer, kinds, conversion.number) if pointer else None


def _listed(
    process: Process, call: Call, pointer: int, kinds: list[str], wanted: int
) -> Term | None:
    """The ``wanted``-th argument of a va_list, by the kinds of those before it."""
    moment = process.values.moment(call.instance, call.index)
    read = process.values.memory.read
    fields = [read(pointer + 4 * at, 4, moment, bitvec(32), None) for at in (0, 1)]
    fields += [read(pointer + 8 * at, 8, moment, bitvec(64), None) for at in (1, 2)]
    places = [known(field) for field in fields]
    state = tuple(place for place in places if isinstance(place, int))
    if len(state) != len(places) or state[0] > WORDS_END:
        return None
    for number, kind in enumerate(kinds):
        address, size, state = next_argument(kind, state)
        if number == wanted:
            return read(address, size, moment, sort_of(kind), None)
    return None


def _format(process: Process, call: Call) -> bytes | None:
    """The format string: a literal, or what is in memory there."""
    kind, text = arguments(call.instruction)[_format_at(callee(call.instruction))]
    found = call.instance.view.unit.globals.get(text.removeprefix("@"))
    literal = text_of(type_and_value(found.definition)[1]) if found else None
    if literal is not None:
        return literal.partition(b"\0")[0]
    pointer = process.values.pointer_value(kind, text, call.instance, call.index)
    return _string(process, call, pointer) if pointer else None


def _string(process: Process, call: Call, pointer: int) -> bytes | None:
    """A string in memory; None where a byte of it is not known."""
    moment = process.values.moment(call.instance, call.index)
    text = bytearray()
    for at in range(_LONGEST_FORMAT):
        byte = process.values.memory.byte(pointer + at, moment)
        if not byte:
            return bytes(text) if byte == 0 else None
        text.append(byte)
    return None


def _conversions(text: bytes) -> Iterator[tuple[int, int, Conversion]]:
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


def _conversion(process: Process, call: Call, departure: Departure) -> Conversion | None:
    """The conversion that printed the byte at the departure's offset."""
    text = _format(process, call)
    written = departure.bad.data if departure.bad else b""
    if text is None:
        return None
    pattern, groups, at = b"", list[Conversion](), 0
    for start, end, conversion in _conversions(text):
        if start == end:
            continue
        pattern += re.escape(text[at:start])
        at = end
        if conversion.number < 0:
            pattern += b"%" if text[end - 1 : end] == b"%" else b".*?"
            continue
        pattern += b"(.*?)" if text[end - 1 : end] in {b"s", b"c"} else rb"( *[-+\w.,]*? *)"
        groups.append(conversion)
    matched = re.fullmatch(pattern + re.escape(text[at:]), written, re.DOTALL)
    if not matched or not groups:
        return groups[0] if groups else None
    offset = departure.offset
    for group, conversion in enumerate(groups, start=1):
        start, last = matched.start(group), max(matched.end(group) - 1, matched.start(group))
        if start <= offset <= last:
            texts = [each for each in groups if each.kind == "ptr"]
            return replace(conversion, begins=start, inside=texts == [conversion])
    before = [
        replace(conversion, begins=matched.start(group))
        for group, conversion in enumerate(groups, start=1)
        if matched.end(group) <= offset
    ]
    return before[-1] if before else groups[0]


def _byte_of_text(
    process: Process, call: Call, pointer: Term, departure: Departure, conversion: Conversion
) -> Term | None:
    """A string argument: the first byte of the string that is not as in green, or the pointer itself.

    What recorded writes left in a byte may be stale, as of memory that snprintf wrote since: a byte
    that was printed for sure is not thought to be the string's end.
    """
    address = known(pointer)
    if not isinstance(address, int) or departure.bad is None:
        return None
    moment = process.values.moment(call.instance, call.index)
    first = process.values.memory.byte(address, moment)
    begins = conversion.begins
    for start in _beginnings(departure.bad.data, departure.offset, first, begins):
        offset = departure.offset - start
        may_end = start == begins and not conversion.inside
        ends = may_end and process.values.memory.byte(address + offset, moment) == 0
        found = _byte(process, call, address, offset, departure, ends=ends)
        if found is not None:
            return found
    return another_value(pointer)


def _beginnings(shown: bytes, offset: int, first: int | None, begins: int) -> Iterator[int]:
    """Where in the written bytes a string may begin: where its conversion does, after the padding,
    else wherever its first byte stands.
    """
    if begins >= 0:
        padding = len(shown[begins:offset]) - len(shown[begins:offset].lstrip(b" "))
        yield from dict.fromkeys((begins, begins + padding))
    for start in range(max(0, offset - _BEFORE), min(offset + 1, len(shown))):
        if first is not None and first == shown[start] and start != begins:
            yield start


def _byte(
    process: Process,
    call: Call,
    address: int,
    offset: int,
    departure: Departure,
    *,
    ends: bool = False,
) -> Term | None:
    """That the byte is green's, as a condition over what wrote it; None if no step wrote it.

    ``ends``: it is the end of a string, after which something else was written.
    """
    moment = process.values.moment(call.instance, call.index)
    bad, green = departure.bad, departure.green
    shown = bad.data[departure.offset] if bad and departure.offset < len(bad.data) else None
    shown = 0 if ends else shown
    if shown is None:
        return None
    term = process.values.memory.read(address + offset, 1, moment, bitvec(8), shown)
    if known(term) != shown:
        return None
    at = departure.green_offset
    expected = green.data[at] if green and at < len(green.data) else None
    wanted = Const(expected, bitvec(8)) if expected not in {None, shown} else None
    return another_value(term, wanted)
