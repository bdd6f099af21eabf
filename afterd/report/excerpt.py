"""Long causes cut to what a person reads: where they begin, where they end, and each change.

A cause in a loop has hundreds of steps, and a changed statement may be among them hundreds of
times. Nothing is lost: the cut says how many steps it left out, and JSON has them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from afterd.model.explanation import TreeStep

EDGE = 4  # steps kept at each end
REPEATS = 2  # times that the same changed statement is kept between them


def excerpt(steps: Sequence[TreeStep], edge: int | None) -> list[TreeStep | int]:
    """The steps to show in order; a number stands for that many left out. ``None``: all."""
    shown: list[TreeStep | int] = []
    times: Counter[tuple[str, str, int]] = Counter()
    for position, step in enumerate(steps):
        kept = edge is None or position < edge or position >= len(steps) - edge
        if step.change and not kept:
            statement = (step.change, step.file, step.line)
            times[statement] += 1
            kept = times[statement] <= REPEATS
        if kept:
            shown.append(step)
        elif shown and isinstance(shown[-1], int):
            shown[-1] += 1
        else:
            shown.append(1)
    return shown
