"""Where a run died, from counters alone: the block that was begun, never left, and called nothing on.

At the end every activation that did not return has one block that was begun once more than it was
left. The innermost is the one whose calls are not under way themselves. Where several remain (calls
through pointers, exceptions that unwound) nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from afterd.model.entity import NO_COLUMN
from afterd.spectra.c.plan import Plan
from afterd.trace.c.ir.ir import Function
from afterd.trace.c.ir.recorded import callee

_CALLS = frozenset(["call", "invoke"])


@dataclass(frozen=True, slots=True)
class Frame:
    """One function: its counters from ``first``, its blocks' columns from ``column``.

    Per block: the counters that begin it, those that leave it, and what it calls ("" by a pointer).
    """

    name: str
    column: int
    begun: tuple[tuple[int, ...], ...]
    left: tuple[tuple[int, ...], ...]
    calls: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, function: Function, plan: Plan, first: int, column: int) -> Frame:
        """The frame of a function."""
        begun = plan.executions()
        left: dict[int, list[int]] = {block: [n] for block, n in plan.returns.items()}
        for (source, _), counter in plan.edges.items():
            left.setdefault(source, []).append(counter)
        blocks = range(len(function.blocks))
        return cls(
            function.name,
            column,
            tuple(tuple(first + n for n in begun.get(block, ())) for block in blocks),
            tuple(tuple(first + n for n in left.get(block, ())) for block in blocks),
            tuple(_called_functions(function, block) for block in blocks),
        )


def _called_functions(function: Function, block: int) -> frozenset[str]:
    names = [callee(i) for i in function.blocks[block].instructions if i.opcode in _CALLS]
    return frozenset(
        "" if name.startswith("%") else name.strip('@"')
        for name in names
        if not name.startswith("@llvm.")
    )


def crashed_in(frames: Iterable[Frame], counts: NDArray[np.int64]) -> int:
    """The column of the block in which a process died; NO_COLUMN where that is not certain."""
    stuck = [
        (frame, block)
        for frame in frames
        if counts[frame.begun[0][0]]
        for block in range(len(frame.begun))
        if counts[list(frame.begun[block])].sum() > counts[list(frame.left[block])].sum()
    ]
    under_way = {frame.name for frame, _ in stuck}
    last = [(frame, block) for frame, block in stuck if not frame.calls[block] & under_way]
    direct = [(frame, block) for frame, block in last if "" not in frame.calls[block]]
    return _only_block(direct) if len(last) > 1 else _only_block(last)


def _only_block(found: Sequence[tuple[Frame, int]]) -> int:
    if len(found) != 1:
        return NO_COLUMN
    frame, block = found[0]
    return frame.column + block
