"""Searching a segment: the records nearby are looked through, those farther away are looked up.

Positions are absolute. What is looked for is mostly near, so an index is made when it first is not.

The stores of a segment by the bytes they wrote: the last one before a record, without a scan.

A value written long before its use is the rule in a long run: four hundred looks through 16 million
records were 84 of the 190 seconds of an explanation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from afterd.trace.c.window import records
from afterd.trace.c.window.buckets import Buckets, Words, bucket_keys, where
from afterd.trace.c.window.identity_index import IdentityIndex
from afterd.trace.c.window.segment import Segment

Positions = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Outside = Callable[[int], bool | None]

_FIRST_CHUNK = 1 << 12
_LARGEST_CHUNK = 1 << 20
_NEARBY = 1 << 17
"""Records that are looked through before all of a segment's are indexed."""


class SegmentSearch:
    """Answers about the records of one segment."""

    def __init__(self, part: Segment) -> None:
        self.part = part
        self.looked_through = 0  # records
        self._outside_calls: dict[Outside, Positions] = {}

    def last(self, before: int, start: int, mask: int, wanted: int) -> int:
        """The last position in [start, before) whose masked first word is ``wanted``; -1 if none."""
        known = self._by_id.covers(mask, wanted)
        near = max(start, before - self._nearby(mask)) if known else start
        found = self._last_of(
            before, near, lambda low, high: _masked_words(self.part.a[low:high], mask, wanted)
        )
        if found >= 0:
            return found
        if not known or near <= max(start, self.part.first):
            return -1
        at = self._by_id.last(near - self.part.first, mask, wanted) + self.part.first
        return at if at >= max(start, self.part.first) else -1

    def next(self, start: int, end: int, mask: int, wanted: int) -> int:
        """The first position in [start, end) whose masked first word is ``wanted``; -1 if none."""
        low, size = max(start - self.part.first, 0), _FIRST_CHUNK
        limit = min(end, self.part.end) - self.part.first
        known = self._by_id.covers(mask, wanted)
        near = min(low + self._nearby(mask), limit) if known else limit
        while low < near:
            high = min(near, low + size)
            self.looked_through += high - low
            found = np.flatnonzero(_masked_words(self.part.a[low:high], mask, wanted))
            if len(found):
                return int(found[0]) + low + self.part.first
            low, size = high, min(size * 2, _LARGEST_CHUNK)
        if near >= limit:
            return -1
        at = self._by_id.next(near, limit, mask, wanted)
        return at + self.part.first if at < limit else -1

    def all(self, start: int, end: int, mask: int, wanted: int) -> Positions:
        """All positions in [start, end) whose masked first word is ``wanted``, ascending."""
        low = max(start - self.part.first, 0)
        high = max(min(end, self.part.end) - self.part.first, 0)
        if high - low > _NEARBY and self._by_id.covers(mask, wanted):
            return self._by_id.all(low, high, mask, wanted) + self.part.first
        self.looked_through += max(high - low, 0)
        found = np.flatnonzero(_masked_words(self.part.a[low:high], mask, wanted))
        return found.astype(np.int64) + (low + self.part.first)

    def last_at_depth(self, before: int, depth: int) -> int:
        """The last position before ``before`` that was written at a call depth; -1 if none."""
        return self._last_of(before, 0, lambda low, high: self.part.depth[low:high] == depth)

    def next_shallower(self, start: int, end: int, depth: int) -> int:
        """The first position in [start, end) at a call depth below ``depth``; -1 if none."""
        low, high = start - self.part.first, min(end, self.part.end) - self.part.first
        step = _LARGEST_CHUNK >> 4
        for at in range(low, high, step):
            self.looked_through += step
            found = np.flatnonzero(self.part.depth[at : min(high, at + step)] < depth)
            if len(found):
                return int(found[0]) + at + self.part.first
        return -1

    def at_depth(self, start: int, end: int, depth: int, most: int) -> list[int]:
        """The first ``most`` positions in [start, end) at a call depth."""
        low, high = start - self.part.first, min(end, self.part.end) - self.part.first
        found: list[int] = []
        step = _FIRST_CHUNK
        while low < high and len(found) < most:
            self.looked_through += step
            near = np.flatnonzero(self.part.depth[low : min(high, low + step)] == depth)
            found.extend(int(hit) + low + self.part.first for hit in near)
            low, step = low + step, min(step * 4, _LARGEST_CHUNK)
        return found[:most]

    def last_write(self, before: int, address: int, size: int) -> int:
        """The last STORE, COPY or FILL before a position that overlaps the bytes; -1 if none."""
        return max(self._last_store(before, address, size), self._last_copy(before, address, size))

    def calls(self, before: int, start: int, outside: Outside) -> Positions:
        """Positions in [start, before) of calls of code that is not traced, ascending.

        ``outside`` says of a call site whether its callee is such code; of a site it does not know
        (None), a call counts when no traced function began next.
        """
        if outside not in self._outside_calls:
            self._outside_calls[outside] = self._calls(outside)
        found = self._outside_calls[outside]
        return found[np.searchsorted(found, start) : np.searchsorted(found, before)]

    def blocks_back(self, before: int, start: int, wanted: Callable[[int], bool]) -> Iterator[int]:
        """Positions of BLOCK and ENTER records with a wanted id, last first."""
        for low, high in self._back(before, start):
            a = self.part.a[low:high]
            at = np.flatnonzero((a >> np.uint64(records.TAG_SHIFT)) >= records.BLOCK)
            blocks = _identifiers(a[at])
            present = _told_of_each(blocks, wanted)
            for hit in at[present[blocks]][::-1]:
                yield int(hit) + low + self.part.first

    def _nearby(self, mask: int) -> int:
        """How many records are looked through first: few, where an index was made already."""
        return _FIRST_CHUNK if self._by_id.is_made_for(mask) else _NEARBY

    def _last_store(self, before: int, address: int, size: int) -> int:
        nearby = _FIRST_CHUNK if "_stores" in self.__dict__ else _NEARBY
        near = max(before - nearby, self.part.first)
        found = self._last_of(
            before, near, lambda low, high: _stores(self.part.a[low:high], address, size)
        )
        if found >= 0:
            return found
        if near == self.part.first:
            return -1
        at = self._stores.last(near - self.part.first, address, size)
        return at + self.part.first if at >= 0 else -1

    def _last_copy(self, before: int, address: int, size: int) -> int:
        starts, tos, lengths = self._copies
        stop = int(np.searchsorted(starts, before))
        hits = np.flatnonzero(
            (tos[:stop] < address + size) & (tos[:stop] + lengths[:stop] > address)
        )
        return int(starts[hits[-1]]) if len(hits) else -1

    def _calls(self, outside: Outside) -> Positions:
        a = self.part.a
        at = where(a, lambda part: (part >> np.uint64(records.TAG_SHIFT)) == records.CALL)
        sites = _identifiers(a[at])
        following = np.minimum(at + 1, len(a) - 1)
        entered = (a[following] >> np.uint64(records.TAG_SHIFT)) == records.ENTER
        surely = _told_of_each(sites, lambda site: bool(outside(site)))
        perhaps = _told_of_each(sites, lambda site: outside(site) is None)
        calls: Positions = at[surely[sites] | (perhaps[sites] & ~entered)] + self.part.first
        return calls

    @cached_property
    def _copies(self) -> tuple[Positions, Positions, Positions]:
        at = where(self.part.a, _is_copy)
        at = at[at + 1 < len(self.part.a)]
        to = (self.part.a[at] & np.uint64(records.ADDRESS_MASK)).astype(np.int64)
        length = (self.part.a[at + 1] & np.uint64(records.LENGTH_MASK)).astype(np.int64)
        return at.astype(np.int64) + self.part.first, to, length

    @cached_property
    def _stores(self) -> StoreIndex:
        self.looked_through += len(self.part.a)
        return StoreIndex(self.part.a)

    @cached_property
    def _by_id(self) -> IdentityIndex:
        self.looked_through += len(self.part.a)
        return IdentityIndex(self.part.a)

    def _last_of(self, before: int, start: int, wanted: Callable[[int, int], Mask]) -> int:
        """The last position in [start, before) that is ``wanted`` of an index range; -1 if none is."""
        for low, high in self._back(before, start):
            found = np.flatnonzero(wanted(low, high))
            if len(found):
                return int(found[-1]) + low + self.part.first
        return -1

    def _back(self, before: int, start: int) -> Iterator[tuple[int, int]]:
        """Index ranges from ``before`` down to ``start``, each twice as long as the last."""
        high, size = min(before, self.part.end) - self.part.first, _FIRST_CHUNK
        limit = max(start - self.part.first, 0)
        while high > limit:
            low = max(limit, high - size)
            self.looked_through += high - low
            yield low, high
            high, size = low, min(size * 2, _LARGEST_CHUNK)


def _masked_words(a: Words, mask: int, wanted: int) -> Mask:
    matching: Mask = (a & np.uint64(mask)) == np.uint64(wanted)
    return matching


def _stores(a: Words, address: int, size: int) -> Mask:
    """Which records are stores that overlap the bytes."""
    is_store: Mask = (a >> np.uint64(records.TAG_SHIFT)) == records.STORE
    return is_store & overlaps(a, address, size)


def _is_copy(a: Words) -> Mask:
    tag = a >> np.uint64(records.TAG_SHIFT)
    copies: Mask = (tag == records.COPY) | (tag == records.FILL)
    return copies


def _identifiers(a: Words) -> Positions:
    return ((a >> np.uint64(records.ID_SHIFT)) & np.uint64(records.ID_MASK)).astype(np.int64)


def _told_of_each(identifiers: Positions, told: Callable[[int], bool]) -> Mask:
    """By id, what is told of it: ids are small numbers, counting them is ten times as fast as sorting."""
    present = np.bincount(identifiers) > 0
    for each in np.flatnonzero(present):
        present[each] = told(int(each))
    return present


REACH = 64
"""Bytes: no scalar store is wider, so a store that overlaps starts less than this far below."""
_GRANULE = 3  # stores are kept apart by the eight bytes they begin in


class StoreIndex:
    """The STORE records of a segment's first words."""

    def __init__(self, a: Words) -> None:
        stores = where(a, lambda part: (part >> np.uint64(records.TAG_SHIFT)) == records.STORE)
        granules = (a[stores] & np.uint64(records.ADDRESS_MASK)) >> np.uint64(_GRANULE)
        self._buckets = Buckets(a, stores, bucket_keys(granules))

    def last(self, before: int, address: int, size: int) -> int:
        """The index of the last store before index ``before`` that overlaps the bytes; -1 if none."""
        lowest = max(address - REACH + 1, 0) >> _GRANULE
        granules = np.arange(lowest, (address + size - 1 >> _GRANULE) + 1, dtype=np.uint64)
        found = -1
        for key in np.unique(bucket_keys(granules)):
            found = self._buckets.last(
                int(key), before, found, lambda a: overlaps(a, address, size)
            )
        return found


def overlaps(a: Words, address: int, size: int) -> npt.NDArray[np.bool_]:
    """Which first words of STORE records wrote any of the bytes."""
    start = (a & np.uint64(records.ADDRESS_MASK)).astype(np.int64)
    width = (a >> np.uint64(records.SIZE_SHIFT) & np.uint64(records.SIZE_MASK)).astype(np.int64)
    return (start < address + size) & (start + width > address)
