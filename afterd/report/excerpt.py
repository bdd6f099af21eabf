"""Long causes cut to what a person reads: where they begin, where they end, and each change.

A cause in a loop has hundreds of steps. Nothing is lost: the cut says how many steps it left out,
and JSON has them all.
"""

from __future__ import annotations

from collections.abc import Sequence

from afterd.model.explanation import TreeStep

EDGE = 4  # steps kept at each end


def excerpt(steps: Sequence[TreeStep], edge: int | None) -> list[TreeStep | int]:
    """The steps to show in order; a number stands for that many left out. ``None``: all."""
    shown: list[TreeStep | int] = []
    for position, step in enumerate(steps):
        near_an_end = edge is None or position < edge or position >= len(steps) - edge
        if near_an_end or step.change:
            shown.append(step)
        elif shown and isinstance(shown[-1], int):
            shown[-1] += 1
        else:
            shown.append(1)
    return shown
