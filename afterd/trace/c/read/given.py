"""What code that is not traced was given, and may have read."""

from __future__ import annotations

from collections.abc import Iterator

from afterd.limits import C_TRACE
from afterd.model.term import Read, bitvec, reads
from afterd.trace.c.ir.recorded import callee, raw_arguments, referred_bytes, split_typed
from afterd.trace.c.read import libc
from afterd.trace.c.read.called_back import answers_to
from afterd.trace.c.read.frames import Call
from afterd.trace.c.read.steps import Cells
from afterd.trace.c.read.values import Values, known_value


def given_reads(values: Values, call: Call, written: Cells | None) -> list[Read]:
    """What a call that is not traced was given: its arguments, the text or bytes they point to, what other such
    functions made of the object that one refers to, and what those returned that it called back; ``written`` are the
    bytes of what it wrote that are asked for.
    """
    found: list[Read] = []
    for argument in raw_arguments(call.instruction):
        found += _of_argument(values, argument, call)
    if written and libc.adds_to(callee(call.instruction)):
        moment = values.moment(call.instance, call.index)
        found += reads(values.memory.read(written.address, 1, moment, bitvec(8), None))
    return [*found, *_handed(values, call, written), *answers_to(values, call)]


def _of_argument(values: Values, argument: str, call: Call) -> list[Read]:
    kind, text = split_typed(argument)
    if kind == "metadata":
        return []
    found = list(reads(values.operand(kind, text, call.instance, call.index)))
    pointer = (
        values.pointer_value(kind, text, call.instance, call.index)
        if kind.startswith("ptr")
        else None
    )
    if not pointer:
        return found
    moment = values.moment(call.instance, call.index)
    name = callee(call.instruction)
    most = C_TRACE.text if libc.is_given_text(name) else 1
    size = referred_bytes(argument) or (0 if libc.is_known_function(name) else 1)
    made = values.memory.outside.made_of(pointer, size, moment)
    known = {values.ids.position(read.step) for read in made}
    pointed = _pointed(values, pointer, moment, most)
    return [*found, *(one for one in pointed if values.ids.position(one.step) not in known), *made]


def _handed(values: Values, call: Call, written: Cells | None) -> list[Read]:
    """What stood behind the pointers in what the arguments point to: one byte, or, of what became the bytes that are
    asked for, what is as far from its beginning as these are from theirs, and around it.
    """
    handed = values.memory.outside.handed(call)
    into = max((at for at in handed if written and at <= written.address), default=0)
    far = written.address - into if written and into else 0
    around = C_TRACE.text // 2 if into else 0
    begins = max(0, far - around)
    moment = values.moment(call.instance, call.index)
    return [
        read
        for pointer in handed
        if pointer != into
        for read in _pointed(values, pointer + begins, moment, far - begins + around or 1)
    ]


def _pointed(values: Values, pointer: int, before: int, most: int) -> Iterator[Read]:
    """The first bytes behind a pointer, to the end of a text, where the program itself stored them or where
    they are a table's, not a literal's.
    """
    for at in range(most):
        byte = values.memory.read(pointer + at, 1, before, bitvec(8), None)
        yield from (read for read in reads(byte) if _is_told(values, read))
        if not known_value(byte):
            break


def _is_told(values: Values, read: Read) -> bool:
    """Whether it is known who put the bytes there: a step, or who wrote a variable's initialiser."""
    if not values.ids.is_initial(read.step):
        return True
    return values.symbols.is_table(values.ids.cells[read.step].address)
