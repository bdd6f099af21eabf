"""Which changes have a statement that the failing run executed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from afterd.compare.c.entries_read import read_entries
from afterd.compare.c.ties import Ties
from afterd.model.change import ChangeId
from afterd.model.location import Location
from afterd.trace.c.read import FunctionView, Process
from afterd.trace.c.window import records

_PART = 1 << 18  # records
_FIRST_BLOCK = np.uint64(records.BLOCK << records.TAG_SHIFT)


def executed_changes(bad: Process, green: Process | None, ties: Ties) -> list[ChangeId]:
    """Changes executed by the failing run, the last executed first, those of what it read of tables, then those only
    green executed.
    """
    found: dict[ChangeId, None] = {}
    for view, file, line in _executed_lines(bad):
        found.update(dict.fromkeys(ties.of_line(view, file, line)))
    found.update(read_entries(bad, ties))
    for view, file, line in _executed_lines(green) if green is not None else ():
        found.update(dict.fromkeys(ties.removed_at(view, Location(file, line))))
    return list(found)


def _executed_lines(process: Process) -> dict[tuple[FunctionView, str, int], None]:
    """The lines of executed blocks, each once, by the function that they are executed in."""
    found: dict[tuple[FunctionView, str, int], None] = {}
    for view, block in executed_blocks(process):
        for number in range(len(view.function.blocks[block].instructions)):
            place = view.place(block, number)
            found[view, place.file, place.line] = None
    return found


def executed_blocks(process: Process) -> Iterator[tuple[FunctionView, int]]:
    """Executed blocks, the last executed first; blocks executed before the window come last."""
    counts = process.recording.counts()
    recent = _recency(process)
    ever = np.flatnonzero(counts)
    for identifier in sorted((int(b) for b in ever), key=lambda b: -recent.get(b, -1)):
        try:
            view = process.program.function_of_block(identifier)
        except KeyError:
            continue
        yield view, identifier - view.numbered.first.blocks


def _recency(process: Process) -> dict[int, int]:
    """Block id → the index of its last record in the window, which is read once, part by part."""
    a = process.recording.window.a
    last = np.full(len(process.recording.counts()), -1, dtype=np.int64)
    for start in range(0, len(a), _PART):
        words = a[start : start + _PART]
        at = np.flatnonzero(words >= _FIRST_BLOCK)
        blocks = (words[at] >> np.uint64(records.ID_SHIFT)) & np.uint64(records.ID_MASK)
        known = blocks < len(last)
        last[blocks[known]] = at[known] + start
    return {int(block): int(last[block]) for block in np.flatnonzero(last >= 0)}
