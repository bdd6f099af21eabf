"""What code that is not traced was told by the functions that it called back: ``bsearch`` by its comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from afterd.limits import C_TRACE
from afterd.model.term import Read, reads
from afterd.trace.c.ir.recorded import split_typed
from afterd.trace.c.read.frames import Call
from afterd.trace.c.read.values import Values
from afterd.trace.c.window import records

_ENTRIES = records.TAG | records.DEPTH_MASK
_INSTANCES = records.ANY_BLOCK | records.DEPTH_MASK


def answers_to(values: Values, call: Call) -> Iterator[Read]:
    """What the last functions returned that a call of code that is not traced called back."""
    recording, frames = values.recording, values.frames
    back, depth = frames.returned(call.position), call.instance.depth + 1
    if back < 0:
        return
    wanted = records.ENTER << records.TAG_SHIFT | depth
    entries = recording.positions(call.position, back, _ENTRIES, wanted)
    borders = [*map(int, entries[-C_TRACE.called_back :]), back]
    for entry, end in pairwise(borders):
        at = recording.last(end, entry, _INSTANCES, records.BLOCK << records.TAG_SHIFT | depth)
        last = frames.instance_at(at)
        returning = last.instructions[-1] if last else None
        if last is None or returning is None or returning.opcode != "ret":
            continue
        kind, text = split_typed(returning.body)
        if text:
            number = len(last.instructions) - 1
            yield from reads(values.operand(kind, text, last, number))
