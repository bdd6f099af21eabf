"""One process's recording: its window of records as numpy columns, searched backwards in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from afterd.tracing.llvm import records

Words = npt.NDArray[np.uint64]

_FIRST_CHUNK = 1 << 12
_LARGEST_CHUNK = 1 << 20
_REACH = (
    64  # bytes: no scalar store is wider, so a store that overlaps starts at most this far below
)


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


def segment(first: int, words: Words) -> Segment:
    """A segment from its interleaved words."""
    a, b = words[0::2], words[1::2]
    return Segment(first, a, b, _depths(a))


class Replay(Protocol):
    """Runs the process again to look further back than what was recorded."""

    def last_word(
        self, mask: int, wanted: int, before: Segment, depth: int
    ) -> tuple[int, Segment] | None:
        """The last record before a segment whose masked first word is ``wanted`` and after which no
        activation began at ``depth``, with the records around it; None if there is none.
        """
        ...

    def last_write(self, address: int, size: int, before: Segment) -> tuple[int, Segment] | None:
        """The last write before a segment that overlaps the bytes, with the records around it."""
        ...


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
        head = (
            np.fromfile(directory / "head", dtype=np.uint64)
            if (directory / "head").exists()
            else np.zeros(12, np.uint64)
        )
        self._head = [int(word) for word in head]
        self.window = segment(*_unwrapped(directory / "ring", self._head[0], self._head[1]))
        self.first, self.end = self.window.first, self.window.end
        self.segments = [self.window]
        self.replay: Replay | None = None
        self._counts: Words | None = None
        self._asked: dict[tuple[int, ...], int] = {}
        self._copy_columns: dict[int, tuple[npt.NDArray[np.int64], ...]] = {}

    @property
    def arguments(self) -> tuple[str, ...]:
        """The command line."""
        raw = (
            (self.directory / "cmdline").read_bytes()
            if (self.directory / "cmdline").exists()
            else b""
        )
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

    def around(self, position: int) -> Segment:
        """The segment that holds a position; IndexError for one that was not recorded."""
        for found in reversed(self.segments):
            if found.first <= position < found.end:
                return found
        raise IndexError(position)

    def word(self, position: int) -> int:
        """The first word of a record."""
        found = self.around(position)
        return int(found.a[position - found.first])

    def value(self, position: int) -> int:
        """The second word of a record."""
        found = self.around(position)
        return int(found.b[position - found.first])

    def tag(self, position: int) -> int:
        """The tag of a record."""
        return self.word(position) >> records.TAG_SHIFT

    def identifier(self, position: int) -> int:
        """The block, slot or site id of a record."""
        return self.word(position) >> records.ID_SHIFT & records.ID_MASK

    def depth_at(self, position: int) -> int:
        """The call depth at which a record was written."""
        found = self.around(position)
        return int(found.depth[position - found.first])

    def start_of(self, position: int) -> int:
        """The first position of the segment that a position (or the end of the run) is in."""
        return self._below(position).first

    def end_of(self, position: int) -> int:
        """Past the last position of the segment that a position is in."""
        return self._below(position + 1).end

    def _below(self, before: int) -> Segment:
        """The segment that ends a backward search from ``before`` starts in."""
        for found in reversed(self.segments):
            if found.first < before <= found.end:
                return found
        return self.window

    def last(self, before: int, start: int, mask: int, wanted: int) -> int:
        """The last position in [start, before), in one segment, whose masked first word is ``wanted``.

        -1 if there is none there.
        """
        part = self._below(before)
        for low, high in _chunks_back(part, before, start):
            found = np.flatnonzero((part.a[low:high] & np.uint64(mask)) == np.uint64(wanted))
            if len(found):
                return int(found[-1]) + low + part.first
        return -1

    def earlier(self, before: int, mask: int, wanted: int, depth: int) -> int:
        """Like ``last``, in records from before the segment, in the activation at ``depth``; -1 if none."""
        part = self._below(before)
        key = (part.first, mask, wanted, depth)
        if key not in self._asked:
            found = (
                self.replay.last_word(mask, wanted, part, depth)
                if self.replay and part.first
                else None
            )
            self._asked[key] = self._added(found)
        return self._asked[key]

    def _added(self, found: tuple[int, Segment] | None) -> int:
        if found is None:
            return -1
        position, part = found
        if not any(known.first <= position < known.end for known in self.segments):
            self.segments.append(part)
            self.segments.sort(key=lambda known: known.first)
        return position

    def last_at_depth(self, before: int, depth: int) -> int:
        """The last position before ``before`` that was written at a call depth; -1 if none."""
        part = self._below(before)
        for low, high in _chunks_back(part, before, 0):
            found = np.flatnonzero(part.depth[low:high] == depth)
            if len(found):
                return int(found[-1]) + low + part.first
        return -1

    def next(self, start: int, end: int, mask: int, wanted: int) -> int:
        """The first position in [start, end), in one segment, whose masked first word is ``wanted``."""
        part = self._below(start + 1)
        low, size = max(start - part.first, 0), _FIRST_CHUNK
        limit = min(end, part.end) - part.first
        while low < limit:
            high = min(limit, low + size)
            found = np.flatnonzero((part.a[low:high] & np.uint64(mask)) == np.uint64(wanted))
            if len(found):
                return int(found[0]) + low + part.first
            low, size = high, min(size * 2, _LARGEST_CHUNK)
        return -1

    def count(self, start: int, end: int, mask: int, wanted: int) -> int:
        """How many records in [start, end) match, in the segment of ``start``."""
        return len(self.positions(start, end, mask, wanted))

    def positions(self, start: int, end: int, mask: int, wanted: int) -> npt.NDArray[np.int64]:
        """All positions in [start, end) that match, in the segment of ``start``."""
        part = self._below(start + 1)
        low, high = max(start - part.first, 0), max(min(end, part.end) - part.first, 0)
        found = np.flatnonzero((part.a[low:high] & np.uint64(mask)) == np.uint64(wanted))
        return found.astype(np.int64) + (low + part.first)

    def next_shallower(self, start: int, end: int, depth: int) -> int:
        """The first position in [start, end) at a call depth below ``depth``; -1 if none."""
        part = self._below(start + 1)
        low, high = start - part.first, min(end, part.end) - part.first
        for at in range(low, high, _LARGEST_CHUNK >> 4):
            found = np.flatnonzero(part.depth[at : min(high, at + (_LARGEST_CHUNK >> 4))] < depth)
            if len(found):
                return int(found[0]) + at + part.first
        return -1

    def at_depth(self, start: int, end: int, depth: int, most: int) -> list[int]:
        """The first ``most`` positions in [start, end) at a call depth, in the segment of ``start``."""
        part = self._below(start + 1)
        low, high = start - part.first, min(end, part.end) - part.first
        found: list[int] = []
        step = _FIRST_CHUNK
        while low < high and len(found) < most:
            near = np.flatnonzero(part.depth[low : min(high, low + step)] == depth)
            found.extend(int(hit) + low + part.first for hit in near)
            low, step = low + step, min(step * 4, _LARGEST_CHUNK)
        return found[:most]

    def last_write(self, before: int, address: int, size: int) -> int:
        """The last STORE, COPY or FILL before a position that overlaps the bytes; -1 if none.

        Looks through the segment, then asks for the records before it.
        """
        part = self._below(before)
        found = max(
            _last_store(part, before, address, size), self._last_copy(part, before, address, size)
        )
        if found >= 0 or not part.first or self.replay is None:
            return found
        key = (part.first, address, size)
        if key not in self._asked:
            self._asked[key] = self._added(self.replay.last_write(address, size, part))
        return self._asked[key]

    def _last_copy(self, part: Segment, before: int, address: int, size: int) -> int:
        starts, tos, lengths = self._copies(part)
        stop = int(np.searchsorted(starts, before))
        hits = np.flatnonzero(
            (tos[:stop] < address + size) & (tos[:stop] + lengths[:stop] > address)
        )
        return int(starts[hits[-1]]) if len(hits) else -1

    def calls(
        self, before: int, start: int, outside: Callable[[int], bool | None]
    ) -> Iterator[int]:
        """Positions of calls of code that is not traced, last first, in one segment.

        ``outside`` says of a call site whether its callee is such code; of a site it does not know,
        a call counts when no traced function began next.
        """
        part = self._below(before)
        for low, high in _chunks_back(part, before, start):
            a = part.a[low:high]
            at = np.flatnonzero((a >> np.uint64(records.TAG_SHIFT)) == records.CALL)
            sites = (a[at] >> np.uint64(records.ID_SHIFT)) & np.uint64(records.ID_MASK)
            known = {int(site): outside(int(site)) for site in np.unique(sites)}
            following = np.minimum(at + low + 1, len(part.a) - 1)
            entered = (part.a[following] >> np.uint64(records.TAG_SHIFT)) == records.ENTER
            wanted = np.isin(sites, [site for site, is_outside in known.items() if is_outside])
            either = np.isin(
                sites, [site for site, is_outside in known.items() if is_outside is None]
            )
            for hit in at[wanted | (either & ~entered)][::-1]:
                yield int(hit) + low + part.first

    def blocks_back(self, before: int, start: int, wanted: Callable[[int], bool]) -> Iterator[int]:
        """Positions of BLOCK and ENTER records with a wanted id, last first, in one segment."""
        part = self._below(before)
        for low, high in _chunks_back(part, before, start):
            a = part.a[low:high]
            at = np.flatnonzero((a >> np.uint64(records.TAG_SHIFT)) >= records.BLOCK)
            blocks = (a[at] >> np.uint64(records.ID_SHIFT)) & np.uint64(records.ID_MASK)
            # ids are small numbers: counting them is ten times as fast as sorting them
            present = np.bincount(blocks.astype(np.int64))
            for block in np.flatnonzero(present):
                present[block] = wanted(int(block))
            for hit in at[present[blocks] > 0][::-1]:
                yield int(hit) + low + part.first

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
        """How often each block was entered, by block id, up to where the recording stopped."""
        if self._counts is None:
            stopped = self.directory / "counts-stop"
            path = stopped if stopped.exists() else self.directory / "counts"
            self._counts = (
                np.fromfile(path, dtype=np.uint64) if path.exists() else np.zeros(0, np.uint64)
            )
        return self._counts

    def before_window(self, block: int) -> int:
        """How often a block was entered before the window began."""
        counts = self.counts()
        if block >= len(counts):
            return 0
        wanted = records.BLOCK << records.TAG_SHIFT | block << records.ID_SHIFT
        mask = records.ANY_BLOCK | records.ID_MASK << records.ID_SHIFT
        inside = np.count_nonzero((self.window.a & np.uint64(mask)) == np.uint64(wanted))
        return int(counts[block]) - int(inside)

    def _copies(self, part: Segment) -> tuple[npt.NDArray[np.int64], ...]:
        if part.first not in self._copy_columns:
            tag = part.a >> np.uint64(records.TAG_SHIFT)
            at = np.flatnonzero((tag == records.COPY) | (tag == records.FILL))
            at = at[at + 1 < len(part.a)]
            to = (part.a[at] & np.uint64(records.ADDRESS_MASK)).astype(np.int64)
            length = (part.a[at + 1] & np.uint64(records.LENGTH_MASK)).astype(np.int64)
            self._copy_columns[part.first] = (at.astype(np.int64) + part.first, to, length)
        return self._copy_columns[part.first]


def _last_store(part: Segment, before: int, address: int, size: int) -> int:
    """The last STORE of a segment before a position that overlaps the bytes; -1 if none."""
    low_address, high_address = address - _REACH, address + size
    for low, high in _chunks_back(part, before, 0):
        a = part.a[low:high]
        at = a & np.uint64(records.ADDRESS_MASK)
        near = (
            ((a >> np.uint64(records.TAG_SHIFT)) == records.STORE)
            & (at > np.uint64(max(low_address, 0)))
            & (at < np.uint64(high_address))
        )
        for hit in np.flatnonzero(near)[::-1]:
            width = int(a[hit]) >> records.SIZE_SHIFT & records.SIZE_MASK
            if int(at[hit]) + width > address:
                return int(hit) + low + part.first
    return -1


def _chunks_back(part: Segment, before: int, start: int) -> Iterator[tuple[int, int]]:
    """Index ranges of a segment from ``before`` down to ``start``, each twice as long as the last."""
    high, size = min(before, part.end) - part.first, _FIRST_CHUNK
    limit = max(start - part.first, 0)
    while high > limit:
        low = max(limit, high - size)
        yield low, high
        high, size = low, min(size * 2, _LARGEST_CHUNK)


def _unwrapped(path: Path, capacity: int, laps: int) -> tuple[int, Words]:
    """The ring's records oldest first, and the absolute position of the first of them."""
    if not path.exists() or not capacity:
        return 0, np.zeros(0, np.uint64)
    words = np.memmap(path, dtype=np.uint64, mode="r")
    cursor = _first(words[0::2], 0, zero=True)
    if not laps:
        return 0, np.asarray(words[: 2 * cursor])
    older = min(_first(words[0::2], cursor, zero=False), max(capacity, cursor))
    first = (laps - 1) * capacity + older if older < capacity else laps * capacity
    return first, np.concatenate([words[2 * older : 2 * capacity], words[: 2 * cursor]])


def _first(words: Words, start: int, *, zero: bool) -> int:
    """The first index from ``start`` whose word is zero (or is not); the length if there is none."""
    step = 1 << 16
    for low in range(start, len(words), step):
        found = np.flatnonzero((words[low : low + step] == 0) == zero)
        if len(found):
            return int(found[0]) + low
    return len(words)


def _depths(a: Words) -> npt.NDArray[np.int32]:
    """The call depth of every record: its own where it carries one, else that of the one before.

    Loads and stores at the beginning are at the depth of what follows them.
    """
    tag = a >> np.uint64(records.TAG_SHIFT)
    own = (tag <= records.PLACE) | (tag >= records.BLOCK)
    if not own.any():
        return np.zeros(len(a), np.int32)
    first = int(np.argmax(own))
    latest = np.maximum.accumulate(np.where(own, np.arange(len(a)), first))
    depth: npt.NDArray[np.int32] = (a[latest] & np.uint64(records.DEPTH_MASK)).astype(np.int32)
    return depth
