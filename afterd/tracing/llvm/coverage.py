"""Which changes have a statement that the failing run executed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from afterd.model.change import ChangeId
from afterd.tracing.llvm import records
from afterd.tracing.llvm.process import Process
from afterd.tracing.llvm.program import FunctionView
from afterd.tracing.llvm.ties import Ties


def executed_changes(bad: Process, green: Process | None, ties: Ties) -> list[ChangeId]:
    """Changes executed by the failing run, the last executed first, then those only green executed."""
    found: dict[ChangeId, None] = {}
    for view, block in executed_blocks(bad):
        for file, line in _lines(view, block):
            found.update(dict.fromkeys(ties.of_line(view, file, line)))
    if green is not None:
        for view, block in executed_blocks(green):
            for number in range(len(view.function.blocks[block].instructions)):
                found.update(dict.fromkeys(ties.removed_at(view, view.place(block, number))))
    return list(found)


def _lines(view: FunctionView, block: int) -> dict[tuple[str, int], None]:
    places = (view.place(block, i) for i in range(len(view.function.blocks[block].instructions)))
    return {(place.file, place.line): None for place in places}


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
    """Block id → the index of its last record in the window."""
    a = process.recording.window.a
    at = np.flatnonzero((a >> np.uint64(records.TAG_SHIFT)) >= records.BLOCK)
    ids = (a[at] >> np.uint64(records.ID_SHIFT)) & np.uint64(records.ID_MASK)
    unique, first_reversed = np.unique(ids[::-1], return_index=True)
    return {int(b): int(at[len(at) - 1 - r]) for b, r in zip(unique, first_reversed, strict=True)}
