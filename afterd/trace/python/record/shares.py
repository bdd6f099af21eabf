"""Which tests of a suite one of several processes runs, that all collected the same suite."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def share_of(groups: Sequence[Hashable], share: int, shares: int) -> range:
    """The positions of share ``share`` of ``shares``; ``groups[i]`` is what test i shares work with.

    Shares are runs of about the same length, so that a group's fixtures are set up once where that
    can be: a cut moves to the nearest border between groups that is less than half a share away.
    """
    size = len(groups) / shares
    borders = [at for at in range(1, len(groups)) if groups[at] != groups[at - 1]]

    def cut(number: int) -> int:
        if number in {0, shares}:
            return len(groups) if number else 0
        wanted = number * size
        nearest = min(borders, key=lambda border: abs(border - wanted), default=0)
        return nearest if abs(nearest - wanted) < size / 2 else round(wanted)

    return range(cut(share), cut(share + 1))
