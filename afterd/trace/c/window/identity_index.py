"""The records of a segment that carry an id, by it; blocks and entries also by their call depth."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from afterd.trace.c.window import records
from afterd.trace.c.window.buckets import Buckets, Wanted, Words, bucket_keys, where
from afterd.trace.c.window.segment import identified_words

_IDENTITY = records.TAG | records.ID_MASK << records.ID_SHIFT
_ANY_BLOCK = 1 << records.TAG_SHIFT  # by this bit alone an entry differs from another block
_Keys = tuple[Buckets, list[int]]


class IdentityIndex:
    """Answers for those masks only that name an id, or a depth of blocks; ``covers`` says which."""

    def __init__(self, a: Words) -> None:
        self._a = a

    def covers(self, mask: int, wanted: int) -> bool:
        """Whether records with these masked first words are in the index."""
        tag = wanted >> records.TAG_SHIFT
        if tag >= records.BLOCK:
            return _names(mask, _IDENTITY) or _names(mask, records.TAG | records.DEPTH_MASK)
        return tag <= records.PLACE and mask & _IDENTITY == _IDENTITY

    def is_made_for(self, mask: int) -> bool:
        """Whether such records were looked up before; else the next look-up costs as much as all of them do."""
        return ("_ids" if _names(mask, _IDENTITY) else "_depths") in self.__dict__

    def last(self, before: int, mask: int, wanted: int) -> int:
        """The index of the last such record before index ``before``; -1 if there is none."""
        buckets, keys = self._keys(mask, wanted)
        found = -1
        for key in keys:
            found = buckets.last(key, before, found, _masked_wanted(mask, wanted))
        return found

    def next(self, start: int, end: int, mask: int, wanted: int) -> int:
        """The index of the first such record in [start, end); ``end`` if there is none."""
        buckets, keys = self._keys(mask, wanted)
        found = end
        for key in keys:
            found = buckets.next(key, start, found, _masked_wanted(mask, wanted))
        return found

    def all(self, start: int, end: int, mask: int, wanted: int) -> npt.NDArray[np.int64]:
        """The indices of all such records in [start, end), ascending."""
        buckets, keys = self._keys(mask, wanted)
        parts = [buckets.all(key, start, end, _masked_wanted(mask, wanted)) for key in keys]
        return np.sort(np.concatenate(parts)) if len(parts) > 1 else parts[0]

    def _keys(self, mask: int, wanted: int) -> _Keys:
        """Where such records are: in two buckets where an entry counts as a block."""
        both = [wanted] if mask & _ANY_BLOCK else [wanted & ~_ANY_BLOCK, wanted | _ANY_BLOCK]
        words = np.array(both, np.uint64)
        if _names(mask, _IDENTITY):
            return self._ids, sorted({int(key) for key in _id_keys(words)})
        return self._depths, sorted({int(key) for key in _depth_keys(words)})

    @cached_property
    def _ids(self) -> Buckets:
        numbers = where(self._a, identified_words)
        return Buckets(self._a, numbers, _id_keys(self._a[numbers]))

    @cached_property
    def _depths(self) -> Buckets:
        numbers = where(self._a, lambda a: a >> np.uint64(records.TAG_SHIFT) >= records.BLOCK)
        return Buckets(self._a, numbers, _depth_keys(self._a[numbers]))


def _names(mask: int, bits: int) -> bool:
    """Whether a mask has all of some bits, an entry perhaps being as good as another block."""
    return (mask | _ANY_BLOCK) & bits == bits


def _id_keys(a: Words) -> npt.NDArray[np.uint16]:
    return bucket_keys(a >> np.uint64(records.ID_SHIFT))


def _depth_keys(a: Words) -> npt.NDArray[np.uint16]:
    """Of blocks: their depth, and whether they are entries."""
    depth = (a & np.uint64(records.DEPTH_MASK)) << np.uint64(1)
    return bucket_keys(depth | (a >> np.uint64(records.TAG_SHIFT) & np.uint64(1)))


def _masked_wanted(mask: int, wanted: int) -> Wanted:
    return lambda a: (a & np.uint64(mask)) == np.uint64(wanted)
