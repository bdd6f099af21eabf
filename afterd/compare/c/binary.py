"""Bytes in which two files that are no text differ: a file system, an archive, an image.

Lines and words mean nothing there: what was written at once stands beside what was written at once in the other run.
What a run draws by chance or takes from the clock (an identity, a checksum over it) another run of the same version has
otherwise at the same place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import numpy as np
import numpy.typing as npt

from afterd.limits import C_PAIR
from afterd.trace.c.window.recording import Written


def is_binary(here: Sequence[Written], there: Sequence[Written]) -> bool:
    """Whether both are no text."""
    return all(any(b"\0" in event.data for event in events) for events in (here, there))


def event_pairs(
    here: Sequence[Written], there: Sequence[Written]
) -> Iterator[tuple[Written, Written | None]]:
    """Each of the one run's events with the one of the other run that is as long as it, in order; where events were
    replaced by others, with that which is in its place.
    """
    mine, other = ([len(event.data) for event in events] for events in (here, there))
    first = _alike(mine, other)
    last = _alike(mine[first:][::-1], other[first:][::-1])
    yield from zip(here[:first], there[:first], strict=True)
    yield from _replaced_pairs(here[first : len(here) - last], there[first : len(there) - last])
    yield from zip(here[len(here) - last :], there[len(there) - last :], strict=True)


def _alike(mine: Sequence[int], other: Sequence[int]) -> int:
    """How many of the first are the same."""
    alike = zip(mine, other, strict=False)
    return next(
        (n for n, (one, another) in enumerate(alike) if one != another), min(len(mine), len(other))
    )


def _replaced_pairs(
    here: Sequence[Written], there: Sequence[Written]
) -> Iterator[tuple[Written, Written | None]]:
    if max(len(here), len(there)) > C_PAIR.paired:  # finding what is alike is quadratic
        steps = [(0, len(here), 0, len(there))]
    else:
        mine, other = ([len(event.data) for event in events] for events in (here, there))
        steps = [
            step[1:] for step in SequenceMatcher(None, mine, other, autojunk=False).get_opcodes()
        ]
    for m1, m2, o1, o2 in steps:
        beside = there[o1:o2]
        for number, event in enumerate(here[m1:m2]):
            yield event, beside[number] if number < len(beside) else None


def differing_places(mine: bytes, other: bytes, again: bytes) -> list[slice]:
    """The stretches in which ``other``, as long as ``mine``, has other bytes, but for those in which ``again``, what
    the same version wrote in another run, has others as well.
    """
    differs = _bytes_of(mine) != _bytes_of(other)
    if len(again) == len(mine):
        differs &= ~_closed(_bytes_of(mine) != _bytes_of(again))
    edges = np.flatnonzero(np.diff(np.concatenate(([0], differs.view(np.int8), [0]))))
    places = edges.reshape(-1, 2)[: C_PAIR.departures]
    return [slice(int(first), int(end)) for first, end in places]


def _bytes_of(data: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)


def _closed(unsteady: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """With the few bytes between two unsteady ones: of sixteen drawn by chance one is often as it was before."""
    places = np.flatnonzero(unsteady)
    apart = np.diff(places)
    for further in range(1, C_PAIR.drawn):
        unsteady[places[:-1][(apart > further) & (apart <= C_PAIR.drawn)] + further] = True
    return unsteady
