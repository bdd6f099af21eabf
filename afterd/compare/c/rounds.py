"""Which round of an interpreter's loop in the green run corresponds to one of the failing run.

What such a loop does in a round is chosen by a switch: by the program that it interprets, and not by how often
it has gone round. Where the two runs interpret other instructions, a round stands beside the one that was
dispatched to the same place of the source, whatever number that place has in either version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from afterd.limits import C_PAIR
from afterd.trace.c.read import Frames, FunctionView
from afterd.trace.c.window import records

Positions = npt.NDArray[np.int64]
Words = npt.NDArray[np.int64]

NOWHERE, UNKNOWN = -1, -2
"""Of a round: that green has none for it; that nobody can tell."""

_INSTANCES = records.ANY_BLOCK | records.DEPTH_MASK
_NONE = -1  # a round in which nothing was dispatched
_GONE = -2  # from here down: places that the good version does not have


def dispatching(view: FunctionView, header: int) -> int:
    """The block that chooses among most others in each round of a loop; -1 where none chooses among many."""
    headers, successors = view.flow.headers, view.flow.successors
    own = [
        block
        for block, following in enumerate(successors)
        if headers[block] and headers[block][-1] == header and len(set(following)) >= C_PAIR.cases
    ]
    return max(own, key=lambda block: len(set(successors[block])), default=-1)


def dispatched_blocks(
    frames: Frames, view: FunctionView, block: int, rounds: Positions, end: int
) -> Words:
    """The block that each round went to from the dispatching one; _NONE where it did not come to that.

    ``rounds`` are the executions of the loop's header in one activation, which ends before ``end``.
    """
    recording, start = frames.recording, int(rounds[0])
    wanted = records.BLOCK << records.TAG_SHIFT | recording.depth_at(start)
    executed = recording.positions(start, end, _INSTANCES, wanted)
    word = view.executions(block) | recording.depth_at(start)
    choosing = recording.positions(start, end, (1 << 64) - 1, word)
    first = np.searchsorted(choosing, rounds)
    found = np.full(len(rounds), _NONE, dtype=np.int64)
    within = first < len(choosing)
    within[within] &= choosing[first[within]] < np.append(rounds[1:], end)[within]
    target = np.searchsorted(executed, choosing[first[within]], side="right")
    taken = target < len(executed)
    rows = np.flatnonzero(within)[taken]
    part = recording.around(start)
    entered = part.a[executed[target[taken]] - part.first]
    blocks = entered >> np.uint64(records.ID_SHIFT) & np.uint64(records.ID_MASK)
    found[rows] = blocks.astype(np.int64) - view.numbered.first.blocks
    return found


def as_in_good(words: Words, to_good: Mapping[int, int]) -> Words:
    """Blocks of the bad version as those of the good one."""
    known, which = np.unique(words, return_inverse=True)
    told = [block if block < 0 else to_good.get(block, _GONE - block) for block in known.tolist()]
    return np.asarray(told, dtype=np.int64)[which]


def corresponding_places(here: Words, there: Words) -> Words:
    """For each item of ``here`` the place of its counterpart in ``there``, NOWHERE or UNKNOWN.

    From where the two differ on, the least is left out after which both go on alike. As many items as were
    left out on either side are taken for each other, in order.
    """
    found = np.full(len(here), UNKNOWN, dtype=np.int64)
    mine, other = 0, 0
    for _ in range(C_PAIR.resumptions):
        alike = _common_start(here[mine:], there[other:])
        found[mine : mine + alike] = np.arange(other, other + alike)
        mine, other = mine + alike, other + alike
        if mine == len(here):
            return found
        if other == len(there):
            found[mine:] = NOWHERE
            return found
        skipped = _resumption(here[mine:], there[other:])
        if skipped is None:
            return found
        ours, theirs = skipped
        if ours == theirs:
            found[mine : mine + ours] = np.arange(other, other + theirs)
        elif not theirs:
            found[mine : mine + ours] = NOWHERE
        mine, other = mine + ours, other + theirs
    return found


def _common_start(here: Words, there: Words) -> int:
    """With how many equal items two sequences begin."""
    shared = min(len(here), len(there))
    length = C_PAIR.stretch
    for start in range(0, shared, length):
        stop = min(start + length, shared)
        differs = np.flatnonzero(here[start:stop] != there[start:stop])
        if len(differs):
            return start + int(differs[0])
    return shared


def _resumption(here: Words, there: Words) -> tuple[int, int] | None:
    """How many items to leave out of each for the next few to be alike: the fewest in all, and of those
    as many of each as can be; None where that is too far.
    """
    mine, other = here[: C_PAIR.resumed].tolist(), there[: C_PAIR.resumed].tolist()
    for total in range(1, C_PAIR.resumed):
        for ours in sorted(range(total + 1), key=lambda each: (abs(total - 2 * each), each)):
            if _goes_on(mine, ours, other, total - ours):
                return ours, total - ours
    return None


def _goes_on(here: Sequence[int], mine: int, there: Sequence[int], other: int) -> bool:
    """Whether both go on alike for a few items, or to the end of both."""
    first, second = here[mine : mine + C_PAIR.resuming], there[other : other + C_PAIR.resuming]
    whole = len(here) < C_PAIR.resumed and len(there) < C_PAIR.resumed
    return first == second and (len(first) == C_PAIR.resuming or whole)
