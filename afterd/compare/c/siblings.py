"""Calls of one function from a rewritten place: paired by where they stand among those that correspond.

A first round taken out of a loop, a call moved into a new branch: the execution index knows no call in
the green run for it. Between two calls of the same function that do correspond, or the ends of the
caller, as many calls in one run as in the other are taken for the same ones, in order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from afterd.limits import C_PAIR


def sibling(
    place: int, here: Sequence[int], there: Sequence[int], partner: Callable[[int], int]
) -> int:
    """The element of ``there`` for ``here[place]``; -1 where the two runs made unequally many calls.

    ``here`` and ``there`` are the positions of all calls of a function in two corresponding
    activations, ascending; ``partner`` is the position of the call that corresponds to one of
    ``here`` by its execution index, or -1.
    """
    first = _nearest_partner(place, -1, here, partner)
    last = _nearest_partner(place, 1, here, partner)
    if first is None or last is None:
        return -1
    low = 0 if first < 0 else bisect_right(there, partner(here[first]))
    high = len(there) if last >= len(here) else bisect_right(there, partner(here[last])) - 1
    return there[low + place - first - 1] if high - low == last - first - 1 else -1


def _nearest_partner(
    place: int, step: int, here: Sequence[int], partner: Callable[[int], int]
) -> int | None:
    """The next place with a partner, or the one past the end; None where that is too far."""
    for _ in range(C_PAIR.siblings):
        place += step
        if not 0 <= place < len(here) or partner(here[place]) >= 0:
            return place
    return None
