"""Which value made the byte of an output that was not as in green."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from afterd.compare.c.outputs import Departure
from afterd.limits import C_PAIR
from afterd.model.term import BOOL, Apply, Concrete, Const, Op, SortKind, Term, bitvec, reads
from afterd.trace.c.failure import another_value
from afterd.trace.c.ir.recorded import arguments, callee
from afterd.trace.c.read import (
    MESSAGES,
    WRITTEN,
    Call,
    Conversion,
    Process,
    argument,
    conversions,
    format_of,
    known_value,
)

_BUFFERS = {
    "@write": 1,
    "@pwrite": 1,
    "@pwrite64": 1,
    "@send": 1,
    "@fwrite": 0,
    "@fwrite_unlocked": 0,
}
_LENGTHS = {"@fwrite": (1, 2), "@fwrite_unlocked": (1, 2)} | dict.fromkeys(
    ("@write", "@pwrite", "@pwrite64", "@send"), (2,)
)
_GATHERS = frozenset(["@writev", "@pwritev", "@pwritev64"])
_STREAMED = re.compile(
    r"@_Z(?:NSols|Stls)"
)  # operator<< of an ostream, which is its first argument
_HELD = 15  # bytes of a text that a std::string holds itself, from its byte 16 on; 8 is its length
_LINE = 3  # which argument of error_at_line is the line of an input
_PARTS = 16  # bytes of an iovec, which begins with a pointer
_TEXTS = {"@puts": 0, "@fputs": 0, "@fputs_unlocked": 0, "@perror": 0}


def printed_otherwise(
    process: Process, call: Call, departure: Departure, green: Process, other: Call | None
) -> Term | None:
    """That green printed the same, over the argument or the byte that made the difference."""
    name, given = callee(call.instruction), arguments(call.instruction)
    if name in WRITTEN:
        return _formatted_byte(process, call, departure, green, other)
    if name in _GATHERS:
        return _gathered_byte(process, call, departure)
    if name in _BUFFERS and other is not None and callee(other.instruction) == name:
        cut = _cut_length(process, call, departure, green, other)
        if cut is not None:
            return cut
    if name in _BUFFERS or name in _TEXTS:
        kind, text = given[{**_BUFFERS, **_TEXTS}[name]]
        pointer = process.values.pointer_value(kind, text, call.instance, call.index)
        ends = name in _TEXTS and departure.bad and departure.offset >= len(departure.bad.data)
        if not pointer:
            return None
        byte = _byte(process, call, pointer, departure.offset, departure, ends=bool(ends))
        return _or_led_there(process, byte, lambda: _operand(process, call, kind, text))
    at = int(_STREAMED.match(name) is not None)
    if len(given) <= at or (at and given[at][0].startswith("ptr")):
        return _streamed_byte(process, call, departure) if at and len(given) > at else None
    if given[at][0].startswith("ptr"):
        return None
    term = process.values.operand(*given[at], call.instance, call.index)
    same = other is not None and callee(other.instruction) == name
    wanted = (
        green.values.operand(*arguments(other.instruction)[at], other.instance, other.index)
        if same and other
        else None
    )
    return another_value(term, _constant(wanted)) or _made_otherwise(term)


def _made_otherwise(term: Term) -> Term | None:
    """That a value was green's of which is only known what it was made from (a long double, a cast of one)."""
    made_from = tuple(dict.fromkeys(reads(term)))
    if not made_from:
        return None
    return Concrete(value=False, sort=BOOL, reason="not computed by the theory", reads=made_from)


def _streamed_byte(process: Process, call: Call, departure: Departure) -> Term | None:
    """A byte of a text that ``<<`` wrote. A short std::string holds it; of a long one, whose pointer code
    that is not traced has set, the length stands for what it is.
    """
    kind, text = arguments(call.instruction)[1]
    pointer = process.values.pointer_value(kind, text, call.instance, call.index)
    if pointer is None or departure.bad is None:
        return None
    if "basic_string" in callee(call.instruction):
        length = len(departure.bad.data)
        if length > _HELD:
            moment = process.values.moment(call.instance, call.index)
            return another_value(
                process.values.memory.read(pointer + 8, 8, moment, bitvec(64), length)
            )
        pointer += 16
    return _byte(process, call, pointer, departure.offset, departure)


def _gathered_byte(process: Process, call: Call, departure: Departure) -> Term | None:
    """A byte of one of the parts that were written at once: each is an event."""
    parts = process.values.pointer_value(*arguments(call.instruction)[1], call.instance, call.index)
    events = [
        w
        for w in process.recording.output()
        if departure.bad and w.position == departure.bad.position
    ]
    if not parts or departure.bad not in events:
        return None
    moment = process.values.moment(call.instance, call.index)
    at = parts + _PARTS * events.index(departure.bad)
    pointer = known_value(process.values.memory.read(at, 8, moment, bitvec(64), None))
    if not isinstance(pointer, int):
        return None
    return _byte(process, call, pointer, departure.offset, departure)


def _formatted_byte(
    process: Process, call: Call, departure: Departure, green: Process, other: Call | None
) -> Term | None:
    conversion = _conversion(process, call, departure)
    if conversion is None:
        return _placed_line(process, call, green, other)
    theirs = _green_conversion(green, other, departure) if other else None
    there = (green, other, theirs) if other and theirs else None
    star = _of_stars(process, call, conversion, there, departure)
    term = star or argument(process.values, call, conversion)
    if star is not None or term is None:
        return star
    if conversion.kind == "ptr":
        return _byte_of_text(process, call, term, departure, conversion)
    wanted = _constant(argument(there[0].values, *there[1:]) if there else None)
    return another_value(term, wanted) or _made_otherwise(term)


def _placed_line(process: Process, call: Call, green: Process, other: Call | None) -> Term | None:
    """The line that error_at_line writes before its message."""
    if callee(call.instruction) != "@error_at_line":
        return None
    same = other is not None and callee(other.instruction) == "@error_at_line"
    ends = ((process, call), (green, other)) if same and other else ((process, call),)
    lines = [
        run.values.operand(*arguments(made.instruction)[_LINE], made.instance, made.index)
        for run, made in ends
    ]
    return another_value(lines[0], _constant(lines[1]) if same else None)


_There = tuple[Process, Call, Conversion]
"""The green run's call and the conversion in it that printed the other byte."""


def _green_conversion(green: Process, other: Call, departure: Departure) -> Conversion | None:
    if callee(other.instruction) not in WRITTEN:
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
        here = argument(process.values, call, Conversion(mine, "i32"))
        wanted = _constant(argument(green.values, other, Conversion(number, "i32")))
        if here is not None and wanted is not None and known_value(here) != wanted.value:
            return another_value(here, wanted if begin_alike else None)
    return None


def _at_an_end(departure: Departure) -> bool:
    """Whether one run's event ends where the runs depart."""
    bad, green = departure.bad, departure.green
    mine = bad is not None and departure.offset >= len(bad.data)
    return mine or (green is not None and departure.green_offset >= len(green.data))


def _cut_length(
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
        if known_value(here) != known_value(there):
            return another_value(here, _constant(there))
    return None


def _constant(term: Term | None) -> Const | None:
    """The value of a term of the green run, where it is known."""
    value = known_value(term) if term is not None else None
    if term is None or value is None or term.sort.kind is SortKind.OPAQUE:
        return None
    return Const(value, term.sort)


def _conversion(process: Process, call: Call, departure: Departure) -> Conversion | None:
    """The conversion that printed the byte at the departure's offset."""
    text = format_of(process.values, call)
    written = departure.bad.data if departure.bad else b""
    if text is None:
        return None
    pattern, groups, at = b"", list[Conversion](), 0
    for start, end, conversion in conversions(text):
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
    if not matched and callee(call.instruction) in MESSAGES:
        return None  # the program's name before the message, or the error's after it
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
    address = known_value(pointer)
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
            return _or_led_there(process, found, lambda: pointer)
    return another_value(pointer)


def _operand(process: Process, call: Call, kind: str, text: str) -> Term:
    return process.values.operand(kind, text, call.instance, call.index)


def _or_led_there(process: Process, byte: Term | None, pointer: Callable[[], Term]) -> Term | None:
    """That the byte was green's or, where nobody wrote it (a literal, a table), that the pointer led to
    another: "false" is as it ever was, and was not meant.
    """
    if byte is None or not all(process.ids.is_initial(read.step) for read in reads(byte)):
        return byte
    led = pointer()
    elsewhere = another_value(led) if any(True for _ in reads(led)) else None
    return byte if elsewhere is None else Apply(Op.OR, (byte, elsewhere), BOOL)


def _beginnings(shown: bytes, offset: int, first: int | None, begins: int) -> Iterator[int]:
    """Where in the written bytes a string may begin: where its conversion does, after the padding,
    else wherever its first byte stands.
    """
    if begins >= 0:
        padding = len(shown[begins:offset]) - len(shown[begins:offset].lstrip(b" "))
        yield from dict.fromkeys((begins, begins + padding))
    for start in range(max(0, offset - C_PAIR.printed), min(offset + 1, len(shown))):
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
    if known_value(term) != shown:
        return None
    at = departure.green_offset
    expected = green.data[at] if green and at < len(green.data) else None
    wanted = Const(expected, bitvec(8)) if expected not in {None, shown} else None
    return another_value(term, wanted)
