"""Looking further back than the window: the program runs again and watches for one record.

Runs are made repeatable (fixed addresses, fixed environment). Each re-execution also returns the
record at which the known segment begins; where that is not the same, the program did something else
this time, and nothing more is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from afterd.tracing.llvm import records
from afterd.tracing.llvm.recording import Segment, segment

_HALF = 1 << 17  # records kept on each side of a match, at most
_HEADER = 4  # words before the records of a watch file

Rerun = Callable[[Mapping[str, str]], Path]


class Reexecution:
    """Answers about one process by running the test again with watches; bounded by ``budget`` runs."""

    def __init__(self, rerun: Rerun, process: int, budget: int) -> None:
        self._rerun = rerun
        self._process = process
        self.left = budget
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
        return None if entry is not None and entry[0] > found[0][0] else found[0]

    def last_write(self, address: int, size: int, before: Segment) -> tuple[int, Segment] | None:
        """The last write of the bytes before a segment."""
        found = self._watch(before, [f"s:{address}:{size}:{before.first}"])
        return found[0] if found else None

    def _watch(self, before: Segment, watches: list[str]) -> list[tuple[int, Segment] | None]:
        if self.left <= 0 or self.departed:
            return []
        self.left -= 1
        run = self._rerun(
            {
                "AFTERD_WATCH": ",".join([*watches, f"w:0:0:{before.first + 1}"]),
                "AFTERD_STOP_RECORD": str(before.first + 1),
                "AFTERD_STOP_PROCESS": str(self._process),
                "AFTERD_RING": str(2 * _HALF),
            }
        )
        directory = run / f"{self._process:06d}"
        kept = [_kept(directory / f"watch-{number}") for number in range(len(watches) + 1)]
        self.departed = not _same(kept[-1], before)
        return [] if self.departed else kept[:-1]


def _kept(path: Path) -> tuple[int, Segment] | None:
    """The match of one watch and the records around it."""
    if not path.exists():
        return None
    header = [int(word) for word in np.fromfile(path, np.uint64, _HEADER)]
    if not header or not header[0]:
        return None
    words = np.fromfile(path, np.uint64, 2 * header[2], offset=_HEADER * 8)
    return header[0] - 1, segment(header[1], words)


def _same(check: tuple[int, Segment] | None, before: Segment) -> bool:
    """Whether the repeated run has the record with which the known segment begins."""
    if check is None or check[0] != before.first:
        return False
    at = check[0] - check[1].first
    return int(check[1].a[at]) == int(before.a[0]) and int(check[1].b[at]) == int(before.b[0])
