"""Which of two stretches of lines are one line written otherwise.

Where a stretch of output was replaced by one of other length, line by line is no pairing: of ``}`` that moved
to the end of the line before it every later line would stand beside the wrong one, and the last would be
"missing".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import product, zip_longest

from afterd.limits import C_PAIR

Pair = tuple[int | None, int | None]
"""The numbers of two lines; None where one has no counterpart."""


def line_pairs(mine: Sequence[bytes], other: Sequence[bytes]) -> Iterator[Pair]:
    """The lines of both in order, those that are alike together; where none are, or they are too many to be
    compared, the first with the first.
    """
    even = len(mine) == len(other) or max(len(mine), len(other)) > C_PAIR.paired
    matched = [] if even else _most_alike(mine, other)
    if not matched:
        yield from zip_longest(range(len(mine)), range(len(other)))
        return
    at = (0, 0)
    for m, o in (*matched, (len(mine), len(other))):
        yield from ((number, None) for number in range(at[0], m))
        yield from ((None, number) for number in range(at[1], o))
        if (m, o) != (len(mine), len(other)):
            yield m, o
        at = m + 1, o + 1


def _most_alike(mine: Sequence[bytes], other: Sequence[bytes]) -> list[tuple[int, int]]:
    """The pairs of alike lines, none across another, whose likeness is the most together."""
    best: dict[tuple[int, int], tuple[float, list[tuple[int, int]]]] = {}
    nothing: tuple[float, list[tuple[int, int]]] = (0.0, [])
    for m, o in product(range(len(mine)), range(len(other))):
        found = max(best.get((m - 1, o), nothing), best.get((m, o - 1), nothing))
        alike = _likeness(mine[m], other[o])
        if alike >= C_PAIR.alike:
            likeness, pairs = best.get((m - 1, o - 1), nothing)
            found = max(found, (likeness + alike, [*pairs, (m, o)]))
        best[m, o] = found
    return best.get((len(mine) - 1, len(other) - 1), nothing)[1]


def _likeness(one: bytes, another: bytes) -> float:
    mine, other = (line.decode(errors="replace").strip() for line in (one, another))
    return SequenceMatcher(None, mine, other, autojunk=False).ratio()
