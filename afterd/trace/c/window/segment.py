"""A stretch of records without a gap, as numpy columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from afterd.trace.c.window import records
from afterd.trace.c.window.buckets import PART, Words

_HEADER = 12  # words: struct head in runtime.c


@dataclass(frozen=True, slots=True)
class Segment:
    """Records ``first`` … ``end`` - 1 of a process, without a gap."""

    first: int
    a: Words
    b: Words
    depth: npt.NDArray[np.int32]

    @property
    def end(self) -> int:
        """Past the last record."""
        return self.first + len(self.a)

    def since(self, position: int) -> Segment:
        """The part from a position on."""
        at = max(position - self.first, 0)
        return Segment(self.first + at, self.a[at:], self.b[at:], self.depth[at:])

    def until(self, position: int) -> Segment:
        """The part before a position."""
        at = max(position - self.first, 0)
        return Segment(self.first, self.a[:at], self.b[:at], self.depth[:at])

    def joined(self, following: Segment) -> Segment:
        """This and the segment that begins where it ends."""
        return Segment(
            self.first,
            np.concatenate([self.a, following.a]),
            np.concatenate([self.b, following.b]),
            np.concatenate([self.depth, following.depth]),
        )


def segment(first: int, words: Words) -> Segment:
    """A segment from its interleaved words."""
    a, b = words[0::2], words[1::2]
    return Segment(first, a, b, _depths(a))


def header(directory: Path) -> list[int]:
    """The words of a process's ``head``; zeros where it left none."""
    path = directory / "head"
    words = np.fromfile(path, np.uint64) if path.exists() else np.zeros(_HEADER, np.uint64)
    return [int(word) for word in words]


def records_made(trace: Path) -> int:
    """How many records the processes of a run have made, which may still go on: laps that were begun count
    as soon as they are full, so it is never too many.
    """
    heads = (header(path.parent) for path in trace.glob("*/head"))
    return sum(head[0] * head[1] for head in heads if len(head) == _HEADER)


def last_records(directory: Path, head: Sequence[int]) -> Segment:
    """What a process left in its ring."""
    capacity, laps = head[:2]
    return segment(*unwrapped_ring(directory / "ring", capacity, laps))


def unwrapped_ring(path: Path, capacity: int, laps: int) -> tuple[int, Words]:
    """The ring's records oldest first, and the absolute position of the first of them."""
    if not path.exists() or not capacity:
        return 0, np.zeros(0, np.uint64)
    words = np.memmap(path, dtype=np.uint64, mode="r")
    cursor = _first_index(words[0::2], 0, zero=True)
    if not laps:
        return 0, np.asarray(words[: 2 * cursor])
    older = min(_first_index(words[0::2], cursor, zero=False), max(capacity, cursor))
    first = (laps - 1) * capacity + older if older < capacity else laps * capacity
    return first, np.concatenate([words[2 * older : 2 * capacity], words[: 2 * cursor]])


def _first_index(words: Words, start: int, *, zero: bool) -> int:
    """The first index from ``start`` whose word is zero (or is not); the length if there is none."""
    step = 1 << 16
    for low in range(start, len(words), step):
        found = np.flatnonzero((words[low : low + step] == 0) == zero)
        if len(found):
            return int(found[0]) + low
    return len(words)


def identified_words(a: Words) -> npt.NDArray[np.bool_]:
    """Which first words carry an id and a call depth; those of the others carry an address."""
    tag = a >> np.uint64(records.TAG_SHIFT)
    own: npt.NDArray[np.bool_] = (tag <= records.PLACE) | (tag >= records.BLOCK)
    return own


def _depths(a: Words) -> npt.NDArray[np.int32]:
    """The call depth of every record: its own where it carries one, else that of the one before.

    Loads and stores at the beginning are at the depth of what follows them.
    """
    depth = np.zeros(len(a), np.int32)
    first = -1
    for low in range(0, len(a), PART):
        part = a[low : low + PART]
        own = identified_words(part)
        latest = np.maximum.accumulate(np.where(own, np.arange(len(part)), -1))
        carried = (part[latest] & np.uint64(records.DEPTH_MASK)).astype(np.int32)
        depth[low : low + PART] = np.where(latest < 0, depth[max(low - 1, 0)], carried)
        if first < 0 and own.any():
            first = low + int(np.argmax(own))
            depth[:first] = depth[first]
    return depth
