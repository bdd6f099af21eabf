"""Record numbers by a key of 16 bits, in order within each: what a search need not read is left out.

A look for one record of a long window otherwise reads all of it, and an explanation asks thousands
of times. Sorting by 16 bits is linear, and four bytes are kept for each record.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.uint32]
Wanted = Callable[[Words], npt.NDArray[np.bool_]]
"""Which of some first words are looked for."""

PART = 1 << 20
"""Records that are looked at together."""
_KEYS = 1 << 16
_SPREAD = 0x9E37  # an odd factor: what differs in its higher bits goes to different buckets
_FIRST, _GROWTH = 64, 4


def where(a: Words, wanted: Wanted) -> npt.NDArray[np.int64]:
    """The numbers of the wanted records, ascending. Looked at a part at a time: what numpy makes on the
    way is as large as what it is made of, and a window has hundreds of megabytes.
    """
    parts = [np.flatnonzero(wanted(a[low : low + PART])) + low for low in range(0, len(a), PART)]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def bucket_keys(values: Words) -> npt.NDArray[np.uint16]:
    """A key of each of some numbers; neighbours have different ones."""
    folded = values ^ (values >> np.uint64(16)) * np.uint64(_SPREAD)
    return (folded & np.uint64(_KEYS - 1)).astype(np.uint16)


class Buckets:
    """The records ``numbers`` (ascending) of a segment's first words ``a``, by their ``keys``."""

    def __init__(
        self, a: Words, numbers: npt.NDArray[np.int64], keys: npt.NDArray[np.uint16]
    ) -> None:
        self._a = a
        self._numbers = numbers[np.argsort(keys, kind="stable")].astype(np.uint32)
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=_KEYS))])

    def last(self, key: int, before: int, known: int, wanted: Wanted) -> int:
        """The last wanted record of a bucket before ``before``, if later than ``known``; else ``known``."""
        own = self._of(key)
        stop, length = int(np.searchsorted(own, before)), _FIRST
        while stop > 0 and own[stop - 1] > known:
            part = own[max(stop - length, 0) : stop]
            hits = np.flatnonzero(wanted(self._a[part]))
            if len(hits):
                return max(int(part[hits[-1]]), known)
            stop, length = stop - len(part), length * _GROWTH
        return known

    def next(self, key: int, start: int, known: int, wanted: Wanted) -> int:
        """The first wanted record of a bucket from ``start``, if earlier than ``known``; else ``known``."""
        own = self._of(key)
        at, length = int(np.searchsorted(own, start)), _FIRST
        while at < len(own) and own[at] < known:
            part = own[at : at + length]
            hits = np.flatnonzero(wanted(self._a[part]))
            if len(hits):
                return min(int(part[hits[0]]), known)
            at, length = at + len(part), length * _GROWTH
        return known

    def all(self, key: int, start: int, end: int, wanted: Wanted) -> npt.NDArray[np.int64]:
        """The wanted records of a bucket in [start, end), ascending."""
        own = self._of(key)
        part = own[np.searchsorted(own, start) : np.searchsorted(own, end)]
        return part[wanted(self._a[part])].astype(np.int64)

    def _of(self, key: int) -> Numbers:
        return self._numbers[self._starts[key] : self._starts[key + 1]]
