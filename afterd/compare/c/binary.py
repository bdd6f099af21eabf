"""Bytes in which two files that are no text differ: a file system, an archive, an image.

Lines and words mean nothing there. What a run draws by chance or takes from the clock (an identity, a checksum over it)
another run of the same version has otherwise at the same place.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from afterd.limits import C_PAIR


def is_binary(mine: bytes, other: bytes) -> bool:
    """Whether both are no text, and as long as each other: what stands at one place of both means the same."""
    return len(mine) == len(other) and b"\0" in mine and b"\0" in other


def differing_places(mine: bytes, other: bytes, again: bytes) -> list[slice]:
    """The stretches in which ``other`` has other bytes than ``mine``, but for those in which ``again``, what the same
    version wrote in another run, has others as well.
    """
    differs = _bytes_of(mine) != _bytes_of(other)
    if len(again) == len(mine):
        differs &= ~_closed(_bytes_of(mine) != _bytes_of(again))
    edges = np.flatnonzero(np.diff(np.concatenate(([0], differs.view(np.int8), [0]))))
    return [slice(int(first), int(end)) for first, end in edges.reshape(-1, 2)]


def _bytes_of(data: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)


def _closed(unsteady: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """With the few bytes between two unsteady ones: of sixteen drawn by chance one is often as it was before."""
    places = np.flatnonzero(unsteady)
    for first, second in pairwise(places):
        if second - first <= C_PAIR.drawn:
            unsteady[first:second] = True
    return unsteady
