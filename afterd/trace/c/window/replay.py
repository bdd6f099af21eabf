"""Looking further back than the window: the program runs again and watches for one record.

Runs are made repeatable (fixed addresses, fixed environment). Each re-execution also returns the
record at which the known segment begins; where that is not the same, the program did something else
this time, and nothing more is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

from afterd.trace.c.window import records
from afterd.trace.c.window.segment import Segment, header, last_records, segment

_HALF = 1 << 17  # records kept on each side of a match, at most
_HEADER = 4  # words before the records of a watch file

WATCH = "AFTERD_WATCH"
"""The setting that makes a run keep what it watches for, and not its last records."""
_WHOLE = (1 << 64) - 1

Rerun = Callable[[Mapping[str, str]], Path]


class Reexecution:
    """Answers about one process by running the test again with watches.

    ``budget`` runs may be made, and as many more as run through ``records`` in all: twelve were spent
    on the first cause of a run whose records before the window take 0.3 seconds to make again. None is
    made that would make more than ``most`` of all of them.
    ``executed`` counts the records that were run through again.
    """

    def __init__(
        self, rerun: Rerun, process: int, budget: int, records: int = 0, most: float = inf
    ) -> None:
        self._rerun = rerun
        self._process = process
        self.left = budget
        self.executed = 0
        self._records = records
        self._most = most
        self.departed = False

    def last_word(
        self, mask: int, wanted: int, before: Segment, depth: int
    ) -> tuple[int, Segment] | None:
        """The last matching record before a segment, unless an activation began at ``depth`` after it."""
        entered = records.ENTER << records.TAG_SHIFT | depth
        found = self._watch(
            before,
            [
                f"w:{mask}:{wanted}:{before.first}",
                f"w:{records.TAG | records.DEPTH_MASK}:{entered}:{before.first}",
            ],
        )
        if not found or found[0] is None:
            return None
        entry = found[1]
        return None if entry and entry.position > found[0].position else found[0].placed

    def last_write(self, address: int, size: int, before: Segment) -> tuple[int, Segment] | None:
        """The last write of the bytes before a segment."""
        found = self._watch(before, [f"s:{address}:{size}:{before.first}"])
        return found[0].placed if found and found[0] else None

    def executions(self, word: int, before: Segment) -> int | None:
        """How often a record was written between the last entry at its call depth and a segment."""
        found = self._watch(before, [f"w:{_WHOLE}:{word}:{before.first}"])
        return found[0].count if found and found[0] else None

    def ending_at(self, stop: int, before: Segment) -> Segment | None:
        """The records up to ``stop``, as many as a window holds; ``before`` begins there or later."""
        if self.departed:
            return None
        directory = self._rerun(self._stopped(stop + 1)) / f"{self._process:06d}"
        found = last_records(directory, header(directory))
        if not found.first <= stop < found.end:
            self.departed = True
        elif stop == before.first:
            self.departed = not _same_first_record(_Kept(stop, 0, found), before)
        else:
            again = self._watch(before, [f"w:0:0:{stop + 1}"])
            self.departed |= not again or not _same_first_record(again[0], found.since(stop))
        return None if self.departed else found.until(stop)

    def _stopped(self, stop: int) -> dict[str, str]:
        """What makes a run record so many records of the process and no more."""
        return {"AFTERD_STOP_RECORD": str(stop), "AFTERD_STOP_PROCESS": str(self._process)}

    def _watch(self, before: Segment, watches: list[str]) -> list[_Kept | None]:
        spent = self.left <= 0 and self.executed >= self._records
        if self.departed or spent or self.executed + before.first > self._most:
            return []
        self.left -= 1
        self.executed += before.first
        run = self._rerun(
            {
                WATCH: ",".join([*watches, f"w:0:0:{before.first + 1}"]),
                **self._stopped(before.first + 1),
                "AFTERD_RING": str(2 * _HALF),
            }
        )
        directory = run / f"{self._process:06d}"
        kept = [_kept_segment(directory / f"watch-{number}") for number in range(len(watches) + 1)]
        self.departed = not _same_first_record(kept[-1], before)
        return [] if self.departed else kept[:-1]


@dataclass(frozen=True, slots=True)
class _Kept:
    """The last match of a watch, how many there were in its activation, the records around it."""

    position: int
    count: int
    around: Segment

    @property
    def placed(self) -> tuple[int, Segment]:
        return self.position, self.around


def _kept_segment(path: Path) -> _Kept | None:
    if not path.exists():
        return None
    header = [int(word) for word in np.fromfile(path, np.uint64, _HEADER)]
    if not header or not header[0]:
        return None
    words = np.fromfile(path, np.uint64, 2 * header[2], offset=_HEADER * 8)
    return _Kept(header[0] - 1, header[3], segment(header[1], words))


def _same_first_record(check: _Kept | None, before: Segment) -> bool:
    """Whether the repeated run has the record with which the known segment begins."""
    if check is None or check.position != before.first:
        return False
    at, around = check.position - check.around.first, check.around
    return int(around.a[at]) == int(before.a[0]) and int(around.b[at]) == int(before.b[0])
