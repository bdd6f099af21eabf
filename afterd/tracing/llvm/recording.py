"""One process's recording: its window of records as numpy columns, searched backwards in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from afterd.tracing.llvm import records

Words = npt.NDArray[np.uint64]

_FIRST_CHUNK = 1 << 12
_LARGEST_CHUNK = 1 << 20
_REACH = 64  # bytes: no scalar store is wider, so a store that overlaps starts at most this far below


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended: ``exit``, ``signal`` or ``unknown`` (exec, SIGKILL), with its number."""

    how: str
    status: int = 0
    fault: int = 0


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes that the process wrote to ``fd`` just after record ``position`` (absolute)."""

    position: int
    fd: int
    data: bytes


class Recording:
    """The last records of one process. Positions are absolute: counted from the process's start."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        head = np.fromfile(directory / "head", dtype=np.uint64) if (directory / "head").exists() else np.zeros(12, np.uint64)
        self._head = [int(word) for word in head]
        self.first, words = _unwrapped(directory / "ring", self._head[0], self._head[1])
        self.a: Words = words[0::2]
        self.b: Words = words[1::2]
        self.end = self.first + len(self.a)
        self.depth = _depths(self.a)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The command line."""
        raw = (self.directory / "cmdline").read_bytes() if (self.directory / "cmdline").exists() else b""
        return tuple(part.decode(errors="surrogateescape") for part in raw.split(b"\0")[:-1])

    @property
    def number(self) -> int:
        """The number of the process in the order in which processes began."""
        return int(self.directory.name)

    @property
    def ending(self) -> Ending:
        """How it ended."""
        how = {1: "exit", 3: "signal"}.get(self._head[4], "unknown")
        return Ending(how, self._head[5], self._head[6])

    @property
    def threads(self) -> bool:
        """Whether other threads ran (they are not followed)."""
        return bool(self._head[3])

    @property
    def forked_from(self) -> int | None:
        """The number of the process it was forked from."""
        return self._head[7] - 1 if self._head[7] else None

    def word(self, position: int) -> int:
        """The first word of a record."""
        return int(self.a[position - self.first])

    def value(self, position: int) -> int:
        """The second word of a record."""
        return int(self.b[position - self.first])

    def tag(self, position: int) -> int:
        """The tag of a record."""
        return self.word(position) >> records.TAG_SHIFT

    def identifier(self, position: int) -> int:
        """The block, slot or site id of a record."""
        return self.word(position) >> records.ID_SHIFT & records.ID_MASK

    def depth_at(self, position: int) -> int:
        """The call depth at which a record was written."""
        return int(self.depth[position - self.first])

    def last(self, before: int, start: int, mask: int, wanted: int) -> int:
        """The last position in [start, before) whose masked first word is ``wanted``; -1 if none."""
        for low, high in self._chunks_back(before, start):
            found = np.flatnonzero((self.a[low:high] & np.uint64(mask)) == np.uint64(wanted))
            if len(found):
                return int(found[-1]) + low + self.first
        return -1

    def last_at_depth(self, before: int, depth: int) -> int:
        """The last position before ``before`` that was written at a call depth; -1 if none."""
        for low, high in self._chunks_back(before, self.first):
            found = np.flatnonzero(self.depth[low:high] == depth)
            if len(found):
                return int(found[-1]) + low + self.first
        return -1

    def next(self, start: int, end: int, mask: int, wanted: int) -> int:
        """The first position in [start, end) whose masked first word is ``wanted``; -1 if none."""
        low, size = max(start - self.first, 0), _FIRST_CHUNK
        limit = min(end, self.end) - self.first
        while low < limit:
            high = min(limit, low + size)
            found = np.flatnonzero((self.a[low:high] & np.uint64(mask)) == np.uint64(wanted))
            if len(found):
                return int(found[0]) + low + self.first
            low, size = high, min(size * 2, _LARGEST_CHUNK)
        return -1

    def count(self, start: int, end: int, mask: int, wanted: int) -> int:
        """How many records in [start, end) match."""
        low, high = max(start - self.first, 0), max(min(end, self.end) - self.first, 0)
        return int(np.count_nonzero((self.a[low:high] & np.uint64(mask)) == np.uint64(wanted)))

    def positions(self, start: int, end: int, mask: int, wanted: int) -> npt.NDArray[np.int64]:
        """All positions in [start, end) that match."""
        low, high = max(start - self.first, 0), max(min(end, self.end) - self.first, 0)
        found = np.flatnonzero((self.a[low:high] & np.uint64(mask)) == np.uint64(wanted))
        return found.astype(np.int64) + (low + self.first)

    def last_store(self, before: int, address: int, size: int) -> int:
        """The last STORE before a position that overlaps ``size`` bytes at ``address``; -1 if none."""
        low_address, high_address = address - _REACH, address + size
        for low, high in self._chunks_back(before, self.first):
            a = self.a[low:high]
            at = a & np.uint64(records.ADDRESS_MASK)
            near = ((a >> np.uint64(records.TAG_SHIFT)) == records.STORE) & (at > np.uint64(max(low_address, 0))) & (at < np.uint64(high_address))
            for hit in np.flatnonzero(near)[::-1]:
                width = int(a[hit]) >> records.SIZE_SHIFT & records.SIZE_MASK
                if int(at[hit]) + width > address:
                    return int(hit) + low + self.first
        return -1

    def last_copy(self, before: int, address: int, size: int) -> int:
        """The last COPY or FILL before a position that overlaps the bytes; -1 if none."""
        starts, tos, lengths = self._copies()
        stop = int(np.searchsorted(starts, before))
        hits = np.flatnonzero((tos[:stop] < address + size) & (tos[:stop] + lengths[:stop] > address))
        return int(starts[hits[-1]]) if len(hits) else -1

    def external_calls(self, before: int, start: int) -> Iterator[int]:
        """Positions of calls that entered no traced function, last first."""
        for low, high in self._chunks_back(before, start):
            a = self.a[low:high]
            calls = np.flatnonzero((a >> np.uint64(records.TAG_SHIFT)) == records.CALL)
            following = np.minimum(calls + low + 1, len(self.a) - 1)
            entered = (self.a[following] >> np.uint64(records.TAG_SHIFT)) == records.ENTER
            for hit in calls[~entered][::-1]:
                yield int(hit) + low + self.first

    def output(self) -> list[Written]:
        """Everything the process wrote, in order."""
        path = self.directory / "output"
        raw = path.read_bytes() if path.exists() else b""
        found: list[Written] = []
        at = 0
        while at + 24 <= len(raw):
            position, fd, length = (int(word) for word in np.frombuffer(raw, np.uint64, 3, at))
            found.append(Written(position, fd, raw[at + 24 : at + 24 + length]))
            at += 24 + length
        return found

    def globals(self) -> dict[int, list[int]]:
        """First block id of each module → the addresses its constructor reported."""
        path = self.directory / "globals"
        words = np.fromfile(path, dtype=np.uint64) if path.exists() else np.zeros(0, np.uint64)
        found: dict[int, list[int]] = {}
        at = 0
        while at + 2 <= len(words):
            first, number = int(words[at]), int(words[at + 1])
            found[first] = [int(word) for word in words[at + 2 : at + 2 + number]]
            at += 2 + number
        return found

    def counts(self) -> npt.NDArray[np.uint64]:
        """How often each block was entered, by block id."""
        path = self.directory / "counts"
        return np.fromfile(path, dtype=np.uint64) if path.exists() else np.zeros(0, np.uint64)

    def _copies(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        cached: tuple[npt.NDArray[np.int64], ...] | None = getattr(self, "_copy_columns", None)
        if cached is None:
            tag = self.a >> np.uint64(records.TAG_SHIFT)
            at = np.flatnonzero((tag == records.COPY) | (tag == records.FILL))
            at = at[at + 1 < len(self.a)]
            to = (self.a[at] & np.uint64(records.ADDRESS_MASK)).astype(np.int64)
            length = (self.a[at + 1] & np.uint64(records.LENGTH_MASK)).astype(np.int64)
            cached = (at.astype(np.int64) + self.first, to, length)
            self._copy_columns = cached
        return cached[0], cached[1], cached[2]

    def _chunks_back(self, before: int, start: int) -> Iterator[tuple[int, int]]:
        high, size = min(before, self.end) - self.first, _FIRST_CHUNK
        limit = max(start - self.first, 0)
        while high > limit:
            low = max(limit, high - size)
            yield low, high
            high, size = low, min(size * 2, _LARGEST_CHUNK)


def _unwrapped(path: Path, capacity: int, laps: int) -> tuple[int, Words]:
    """The ring's records oldest first, and the absolute position of the first of them."""
    if not path.exists() or not capacity:
        return 0, np.zeros(0, np.uint64)
    ring = np.memmap(path, dtype=np.uint64, mode="r", shape=(2 * capacity + 2,))
    words = ring[: 2 * capacity]
    cursor = _end_of_ring(words, laps)
    if not laps:
        return 0, np.asarray(words[: 2 * cursor])
    older = words[2 * (cursor + 1) :]  # the record at the cursor lost its first word to the end mark
    first = (laps - 1) * capacity + cursor + 1
    return first, np.concatenate([older, words[: 2 * cursor]])


def _end_of_ring(words: Words, laps: int) -> int:
    """The number of records in the current lap: where the first word is zero."""
    step = 1 << 20
    for low in range(0, len(words), 2 * step):
        zero = np.flatnonzero(words[low : low + 2 * step : 2] == 0)
        if len(zero):
            return int(zero[0]) + low // 2
    return len(words) // 2 if not laps else 0


def _depths(a: Words) -> npt.NDArray[np.int32]:
    """The call depth of every record: its own where it carries one, else that of the one before."""
    tag = a >> np.uint64(records.TAG_SHIFT)
    own = (tag <= records.PLACE) | (tag >= records.BLOCK)
    latest = np.maximum.accumulate(np.where(own, np.arange(len(a)), 0)) if len(a) else np.zeros(0, np.int64)
    depth: npt.NDArray[np.int32] = (a[latest] & np.uint64(records.DEPTH_MASK)).astype(np.int32)
    return depth
