"""Partitions that follow the program: changes of one function stay together, then of one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from afterd.model.change import Change, ChangeId


def partition(ordered: Sequence[ChangeId], changes: Mapping[ChangeId, Change], n: int) -> list[list[ChangeId]]:
    """``n`` parts (fewer where there are fewer changes), of about equal size, in the order given.

    A part ends at the nearest border of a function, or of a file, within a quarter of its size.
    """
    n = min(n, len(ordered))
    if n <= 1:
        return [list(ordered)]
    size = len(ordered) / n
    cuts = [0]
    for number in range(1, n):
        ideal = round(number * size)
        low, high = max(cuts[-1] + 1, ideal - int(size // 4)), min(len(ordered) - (n - number), ideal + int(size // 4))
        border = [at for at in range(low, high + 1) if _place(ordered[at], changes) != _place(ordered[at - 1], changes)]
        cuts.append(min(border, key=lambda at: abs(at - ideal)) if border else max(ideal, cuts[-1] + 1))
    cuts.append(len(ordered))
    return [list(ordered[start:end]) for start, end in zip(cuts, cuts[1:], strict=False)]


def _place(change: ChangeId, changes: Mapping[ChangeId, Change]) -> tuple[str, str]:
    found = changes[change]
    return found.file, found.symbol
