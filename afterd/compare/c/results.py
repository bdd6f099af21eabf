"""What a call from outside gave otherwise than in the green run: what it returned, and what it wrote for its caller.

A number is compared by its value, a text by its bytes. Of an object that other code which is not traced made
(a Python integer) what it was made of is compared. Two addresses say nothing more than which of them is null.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from afterd.compare.c.outer_calls import OuterCall, Parameter, parameters
from afterd.limits import C_PAIR
from afterd.logic import same_value
from afterd.model.location import Location
from afterd.model.term import BOOL, Apply, Const, Op, Read, Term, Value, bitvec, reads
from afterd.trace.c.failure import another_value, call_at
from afterd.trace.c.ir.recorded import arguments, callee, split_typed
from afterd.trace.c.read import Call, Process, allocates, known_value
from afterd.trace.c.window import records
from afterd.trace.rendering import rendered_value


@dataclass(frozen=True, slots=True)
class Departure:
    """One thing that a call gave otherwise: that it had been green's (``condition``; ``green`` as the green
    run would put it), what it was in both runs, where it was made, and in words what was done with it.
    """

    condition: Term
    green: Term | None
    observed: str
    expected: str
    location: Location
    deed: str


@dataclass(frozen=True, slots=True)
class _Given:
    """A value of one run with its type in the IR; what it points to is read just before a record."""

    process: Process
    term: Term
    kind: str
    before: int
    is_text: bool = False

    @property
    def value(self) -> Value:
        return known_value(self.term)

    @property
    def is_pointer(self) -> bool:
        return self.kind.startswith("ptr")

    @property
    def shown(self) -> str:
        return rendered_value(self.value, self.term.sort, pointer=self.is_pointer)

    def not_so(self, wanted: _Given) -> Term | None:
        """That it was what the other run had; of a pointer, which has another address there, not this one."""
        value = wanted.value
        told = value is not None and not (wanted.is_pointer and value)
        constant = Const(value, self.term.sort) if told else None
        return another_value(self.term, constant)


def departures(
    bad: Process, call: OuterCall, green: Process, other: OuterCall
) -> Iterator[Departure]:
    """Everything that one call gave otherwise than its counterpart."""
    mine, theirs = _returned_value(bad, call), _returned_value(green, other)
    if mine is not None and theirs is not None:
        place = _made_at(bad, call, mine.term)
        yield from _parting_values(mine, theirs, place, f"{call.view.source_name}() returned")
    yield from _written_otherwise(bad, call, green, other)


def _returned_value(process: Process, call: OuterCall) -> _Given | None:
    kind, text = split_typed(call.returning.body)
    if not text:
        return None
    number = len(call.last.instructions) - 1
    term = process.values.operand(kind, text, call.last, number)
    return _Given(process, term, kind, call.end, call.view.returns_text)


def _made_at(process: Process, call: OuterCall, term: Term) -> Location:
    """The ``return`` that gave a value: it was stored to a variable without a name, or stands at the end."""
    if isinstance(term, Read) and not process.ids.is_initial(term.step):
        statement = process.statements.statement(term.step)
        own = statement.instance is not None and statement.instance.view is call.view
        if own and not statement.target:
            return statement.location
    return call.last.view.place(call.last.block, len(call.last.instructions) - 1)


def _parting_values(
    mine: _Given, theirs: _Given, place: Location, deed: str, deep: int = 0
) -> Iterator[Departure]:
    """How two values differ, if they do."""
    here, there = mine.value, theirs.value
    if here is None or there is None or mine.term.sort != theirs.term.sort:
        return
    if not (mine.is_pointer and here and there):
        if not same_value(here, there):
            yield from _departure(mine, theirs, place, deed)
        return
    texts = _texts(mine, theirs)
    if texts is not None:
        yield from _text_departure(mine, theirs, texts, place, deed)
        return
    made, other = _maker(mine), _maker(theirs)
    if made is not None and other is not None and deep < C_PAIR.made:
        yield from _made_apart(mine.process, made, theirs.process, other, deep + 1)


def _departure(mine: _Given, theirs: _Given, place: Location, deed: str) -> Iterator[Departure]:
    condition, green = mine.not_so(theirs), theirs.not_so(mine)
    if condition is not None:
        yield Departure(condition, green, mine.shown, theirs.shown, place, deed)


# -- texts ---------------------------------------------------------------------------------------


def _texts(mine: _Given, theirs: _Given) -> tuple[bytes, bytes] | None:
    """What two pointers point to, where that is a text in both runs."""
    here, there = _text(mine), _text(theirs)
    return None if here is None or there is None else (here, there)


def _text(given: _Given) -> bytes | None:
    """The text behind a pointer, up to its end; None where it is none, or not known. Of a pointer whose
    type is not known the bytes tell, and none are no text; nor is an address that was stored there, whose bytes
    may all be letters.
    """
    address, process = given.value, given.process
    assert isinstance(address, int), "asked for pointers"
    first = process.values.memory.read(address, 8, given.before, bitvec(64), None)
    if not given.is_text and _is_address(process, first):
        return None
    found = bytearray()
    for offset in range(C_PAIR.text):
        byte = process.values.memory.byte(address + offset, given.before)
        if byte is None:
            return None
        if not byte:
            readable = found.isascii() and found.decode("ascii", "replace").isprintable()
            return bytes(found) if given.is_text or (found and readable) else None
        found.append(byte)
    return None


def _text_departure(
    mine: _Given, theirs: _Given, texts: tuple[bytes, bytes], place: Location, deed: str
) -> Iterator[Departure]:
    """The first byte of two texts that differs; where nobody wrote it, a literal, which of them was meant."""
    here, there = texts
    if here == there:
        return
    at = next((i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), None)
    offset = min(len(here), len(there)) if at is None else at
    condition = _byte_apart(mine, offset, here, there)
    if condition is not None:
        green = _byte_apart(theirs, offset, there, here)
        yield Departure(condition, green, _readable_name(here), _readable_name(there), place, deed)


def _byte_apart(given: _Given, offset: int, own: bytes, wanted: bytes) -> Term | None:
    """That a byte of a text was the other run's."""
    address = given.value
    assert isinstance(address, int), "asked for pointers"
    shown = (*own, 0)[offset]
    byte = given.process.values.memory.read(address + offset, 1, given.before, bitvec(8), shown)
    condition = another_value(byte, Const((*wanted, 0)[offset], bitvec(8)))
    written = any(not given.process.ids.is_initial(read.step) for read in reads(byte))
    meant = None if written else another_value(given.term)
    if meant is None or condition is None:
        return condition or meant
    return Apply(Op.OR, (condition, meant), BOOL)


def _readable_name(text: bytes) -> str:
    return text.decode(errors="backslashreplace")


# -- objects of code that is not traced -----------------------------------------------------------


def _maker(given: _Given) -> Call | None:
    """The call of code that is not traced whose result a value is, handed on as it was."""
    term, process = given.term, given.process
    for _ in range(C_PAIR.moves):
        if not isinstance(term, Read) or process.ids.is_initial(term.step):
            return None
        call = call_at(process, process.ids.position(term.step))
        if call is not None:
            return call
        try:
            term = process.statements.statement(term.step).term
        except KeyError:
            return None
    return None


def _made_apart(
    bad: Process, made: Call, green: Process, other: Call, deep: int
) -> Iterator[Departure]:
    """How what two calls of code that is not traced were given differs."""
    name = callee(made.instruction)
    if not name.startswith("@") or name != callee(other.instruction) or allocates(name):
        return
    given = zip(arguments(made.instruction), arguments(other.instruction), strict=False)
    for (kind, text), (there, green_text) in given:
        if kind != there or kind == "metadata":
            continue
        mine = _argument(bad, made, kind, text)
        theirs = _argument(green, other, kind, green_text)
        deed = f"{made.instance.view.source_name}() gave {name[1:]}()"
        yield from _parting_values(mine, theirs, made.location, deed, deep)


def _argument(process: Process, call: Call, kind: str, text: str) -> _Given:
    term = process.values.operand(kind, text, call.instance, call.index)
    return _Given(process, term, kind, call.position)


# -- memory of the caller -------------------------------------------------------------------------


def _written_otherwise(
    bad: Process, call: OuterCall, green: Process, other: OuterCall
) -> Iterator[Departure]:
    """What a call wrote otherwise through its pointer arguments, into memory that it was lent."""
    mine, theirs = list(parameters(bad, call)), list(parameters(green, other))
    for here, there in zip(mine, theirs, strict=False):
        if not _is_lent(bad, here) or not _is_lent(green, there):
            continue
        cells = dict.fromkeys(
            (*_cells(bad, call, here, mine), *_cells(green, other, there, theirs))
        )
        deed = f"{call.view.source_name}() wrote, where {here.name} points,"
        for offset, size in sorted(cells):
            ours = _cell(bad, call, here, offset, size)
            other_cell = _cell(green, other, there, offset, size)
            if ours is None or other_cell is None:
                continue
            found = list(_parting_values(ours, other_cell, _stored_at(bad, call, ours.term), deed))
            yield from found[:1]
            if found:
                break


def _is_lent(process: Process, given: Parameter) -> bool:
    """Whether a parameter points to memory that the traced code did not allocate itself."""
    if not given.is_pointer or not given.value:
        return False
    known = process.symbols.at(given.value)
    return known is None and process.allocations.of(given.value, given.position) is None


def _cells(
    process: Process, call: OuterCall, given: Parameter, others: list[Parameter]
) -> Iterator[tuple[int, int]]:
    """Where a call stored behind a pointer, as offset and size: up to where another parameter points."""
    further = (each.value for each in others if each.is_pointer)
    end = min((at for at in further if at > given.value), default=given.value + C_PAIR.lent)
    end = min(end, given.value + C_PAIR.lent)
    first = call.entry.position
    stores = process.recording.positions(
        first, call.end, records.TAG, records.STORE << records.TAG_SHIFT
    )
    words = np.array([process.recording.word(int(at)) for at in stores[-C_PAIR.lent :]], np.uint64)
    for word in map(int, dict.fromkeys(words.tolist())):
        address, size = word & records.ADDRESS_MASK, word >> records.SIZE_SHIFT & records.SIZE_MASK
        if given.value <= address < end and 0 < size <= 8:
            yield address - given.value, size


def _cell(
    process: Process, call: OuterCall, given: Parameter, offset: int, size: int
) -> _Given | None:
    """What the bytes held when the call came back."""
    address, memory = given.value + offset, process.values.memory
    bits = memory.bits(address, size, call.end)
    if bits is None:
        return None
    term = memory.read(address, size, call.end, bitvec(8 * size), bits)
    kind = "ptr" if _is_address(process, term) else f"i{8 * size}"
    return _Given(process, term, kind, call.end)


def _is_address(process: Process, term: Term) -> bool:
    """Whether what was stored is a pointer."""
    if not isinstance(term, Read) or process.ids.is_initial(term.step):
        return False
    return process.statements.statement(term.step).pointer


def _stored_at(process: Process, call: OuterCall, term: Term) -> Location:
    """Where the bytes were stored last."""
    steps = [read.step for read in reads(term) if not process.ids.is_initial(read.step)]
    if not steps:
        return call.view.location
    return process.statements.statement(max(steps)).location
