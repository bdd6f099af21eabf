"""What two calls of code that is not traced were given, of which it kept nobody knows what.

A library's object (a compiled pattern, a window, a stream) is handed from one call to the next, and no byte of it can
be compared. Where the call that left it so was given another number or literal than green's, it is another one.
"""

from __future__ import annotations

from collections.abc import Iterator

from afterd.trace.c.ir.recorded import arguments
from afterd.trace.c.read import Process, Statement

Given = int | bytes | None
"""A number, the bytes of a literal, or what is not known."""


def was_given_otherwise(bad: Process, here: Statement, green: Process, there: Statement) -> bool:
    """Whether a call that left something of an object is known to have been given other numbers or literals than
    green's; False where a statement is no such call.
    """
    pairs = zip(_given(bad, here), _given(green, there), strict=False)
    return any(None not in pair and pair[0] != pair[1] for pair in pairs)


def _given(process: Process, statement: Statement) -> Iterator[Given]:
    instance = statement.instance
    if instance is None or statement.step not in process.ids.cells:
        return
    number = statement.instruction
    for kind, text in arguments(instance.instructions[number]):
        value = process.values.pointer_value(kind, text, instance, number)
        if not kind.startswith("ptr"):
            yield value
        elif value is None or (literal := process.symbols.literal(value)) is None:
            yield None
        else:
            yield literal.partition(b"\0")[0]
