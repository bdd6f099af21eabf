"""One process's recording: its window of records as numpy columns, searched backwards in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from afterd.limits import WORK
from afterd.trace.c.window import records
from afterd.trace.c.window.buckets import Words
from afterd.trace.c.window.segment import Segment, header, last_records
from afterd.trace.c.window.segment_search import Outside, Positions, SegmentSearch


class Replay(Protocol):
    """Runs the process again to look further back than what was recorded; ``executed`` records so far."""

    executed: int

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

    def executions(self, word: int, before: Segment) -> int | None:
        """How often a record was written between the last entry at its call depth and a segment."""
        ...

    def ending_at(self, stop: int, before: Segment) -> Segment | None:
        """The records up to ``stop``, as many as a window holds; ``before`` begins there or later."""
        ...


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended: ``exit``, ``signal``, ``exec`` or ``cut`` (SIGKILL), with its number."""

    how: str
    status: int = 0
    fault: int = 0


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes that the process wrote to ``fd`` just after record ``position`` (absolute)."""

    position: int
    fd: int
    data: bytes


_DRIFT = 4  # this part of a window is what two runs may be apart where they do the same


class Recording:
    """The last records of one process. Positions are absolute: counted from the process's start.

    ``repeated`` is what the same process wrote in another run of the same version, where one can be had.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._head = header(directory)
        self.window = last_records(directory, self._head)
        self.first, self.end = self.window.first, self.window.end
        self.segments = [self.window]
        self.replay: Replay | None = None
        self.repeated: Callable[[], Sequence[Written]] = tuple
        self._counts: Words | None = None
        self._output: list[Written] | None = None
        self._asked: dict[tuple[int, ...], int] = {}
        self._counted: dict[int, int | None] = {}
        self._before: dict[tuple[int, int], int] = {}  # by block, and where the window begins
        self._searches: dict[int, SegmentSearch] = {}
        self._questions = 0

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
        how = ("cut", "exit", "exec", "signal")[self._head[4]]
        return Ending(how, self._head[5], self._head[6])

    @property
    def stopped(self) -> bool:
        """Whether it made as many records as were asked for."""
        return bool(self._head[2])

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
        return self._search(self._below(before)).last(before, start, mask, wanted)

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
        return self._search(self._below(before)).last_at_depth(before, depth)

    def next(self, start: int, end: int, mask: int, wanted: int) -> int:
        """The first position in [start, end), in one segment, whose masked first word is ``wanted``."""
        return self._search(self._below(start + 1)).next(start, end, mask, wanted)

    def count(self, start: int, end: int, mask: int, wanted: int) -> int:
        """How many records in [start, end) match, in the segment of ``start``."""
        return len(self.positions(start, end, mask, wanted))

    def positions(self, start: int, end: int, mask: int, wanted: int) -> Positions:
        """All positions in [start, end) that match, in the segment of ``start``."""
        return self._search(self._below(start + 1)).all(start, end, mask, wanted)

    def next_shallower(self, start: int, end: int, depth: int) -> int:
        """The first position in [start, end) at a call depth below ``depth``; -1 if none."""
        return self._search(self._below(start + 1)).next_shallower(start, end, depth)

    def at_depth(self, start: int, end: int, depth: int, most: int) -> list[int]:
        """The first ``most`` positions in [start, end) at a call depth, in the segment of ``start``."""
        return self._search(self._below(start + 1)).at_depth(start, end, depth, most)

    def last_write(self, before: int, address: int, size: int) -> int:
        """The last STORE, COPY or FILL before a position that overlaps the bytes; -1 if none.

        Looks through the segment, then asks for the records before it.
        """
        part = self._below(before)
        found = self._search(part).last_write(before, address, size)
        if found >= 0 or not part.first or self.replay is None:
            return found
        key = (part.first, address, size)
        if key not in self._asked:
            self._asked[key] = self._added(self.replay.last_write(address, size, part))
        return self._asked[key]

    def calls(self, before: int, start: int, outside: Outside) -> Iterator[int]:
        """Positions of calls of code that is not traced, last first, in one segment.

        ``outside`` says of a call site whether its callee is such code; of a site it does not know,
        a call counts when no traced function began next.
        """
        found = self._search(self._below(before)).calls(before, start, outside)
        return map(int, found[::-1])

    def blocks_back(self, before: int, start: int, wanted: Callable[[int], bool]) -> Iterator[int]:
        """Positions of BLOCK and ENTER records with a wanted id, last first, in one segment."""
        return self._search(self._below(before)).blocks_back(before, start, wanted)

    def output(self) -> list[Written]:
        """Everything the process wrote, in order; read once."""
        if self._output is None:
            self._output = list(self._written())
        return self._output

    def _written(self) -> Iterator[Written]:
        path, length = self.directory / "output", self._head[9]
        raw, at = b"", 0
        if path.exists():  # as long as a log may be, and empty behind what was written
            with path.open("rb") as log:
                raw = log.read(length)
        while at + 24 <= len(raw):
            position, fd, length = (int(word) for word in np.frombuffer(raw, np.uint64, 3, at))
            yield Written(position, fd, raw[at + 24 : at + 24 + length])
            at += 24 + length

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

    @property
    def replaced(self) -> bool:
        """Whether a value was replaced as asked."""
        return bool(self._head[10])

    def executed(self) -> list[int]:
        """The ids of the blocks that were entered."""
        return [int(block) for block in np.flatnonzero(self.counts())]

    def counts(self) -> npt.NDArray[np.uint64]:
        """How often each block was entered, by block id, up to where the recording stopped."""
        if self._counts is None:
            stopped = self.directory / "counts-stop"
            path = stopped if stopped.exists() else self.directory / "counts"
            self._counts = (
                np.fromfile(path, dtype=np.uint64) if path.exists() else np.zeros(0, np.uint64)
            )
        return self._counts

    def earlier_executions(self, word: int) -> int | None:
        """How often a BLOCK record was written before the window by the activation that was open at its
        depth then; None where that could not be counted.
        """
        if self.replay is None:
            return None
        if word not in self._counted:
            self._counted[word] = self.replay.executions(word, self.window)
        return self._counted[word]

    def before_window(self, block: int) -> int:
        """How often a block was entered before the window began."""
        counts = self.counts()
        if block >= len(counts):
            return 0
        if (block, self.first) not in self._before:
            wanted = records.BLOCK << records.TAG_SHIFT | block << records.ID_SHIFT
            mask = records.ANY_BLOCK | records.ID_MASK << records.ID_SHIFT
            within = self.count(self.first, self.end, mask, wanted)
            self._before[block, self.first] = int(counts[block]) - within
        return self._before[block, self.first]

    def reach(self, first: int, end: int) -> None:
        """Have the records that correspond to a partner's ``first`` … ``end`` - 1, too.

        A run that goes on for long after what corresponds to its partner's failure has none of it in its
        window; without a replay, or where the window begins before it, nothing changes.
        """
        margin = len(self.window.a) // _DRIFT
        if self.replay is None or first >= self.first or end + margin >= self.end:
            return
        found = self.replay.ending_at(min(self.first, end + margin), self.window)
        if found is None:
            return
        found = found.since(first - margin)
        if found.end == self.first:
            found = self.window = found.joined(self.window)
            self.first, self.segments = found.first, [found]
        else:
            self.segments.insert(0, found)

    def work(self) -> int:
        """What was done so far to answer, in records looked through; a question costs as many itself as
        take its time.
        """
        looked = sum(search.looked_through for search in self._searches.values())
        again = self.replay.executed if self.replay else 0
        return looked + again + self._questions * WORK.question

    def _search(self, part: Segment) -> SegmentSearch:
        self._questions += 1
        if part.first not in self._searches:
            self._searches[part.first] = SegmentSearch(part)
        return self._searches[part.first]
