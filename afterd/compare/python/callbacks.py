"""What ran inside code that is not followed: ``list(g())``, ``sorted(xs, key=f)``, a context manager.

The result of such a call depends on what the frames that it entered did, and on what they did not:
an item that a generator passed over has no row of its own. The branches of those frames that went
another way than in the green run stand for it.
"""

from __future__ import annotations

from afterd.compare.python.alignment import Alignment
from afterd.limits import PYTHON_PAIR
from afterd.trace.python.read import Trace
from afterd.trace.python.record.rows import OUTCOMES


class Callbacks:
    """Looks into the calls of the failing run, beside the green one."""

    def __init__(self, trace: Trace, alignment: Alignment) -> None:
        self.trace = trace
        self.alignment = alignment
        self._found: dict[int, list[int]] = {}

    def departures(self, position: int) -> list[int]:
        """Branches since the frame's last row that went another way in green, latest first.

        Only the first few of them: what comes after may follow from those.
        """
        found = self._found.get(position)
        if found is None:
            found = self._found[position] = self._departures(position)
        return found

    def _departures(self, position: int) -> list[int]:
        frame = self.trace.frame(position)
        if frame is None:
            return []
        first = self.trace.previous_in_frame(frame, position) + 1
        found: list[int] = []
        for row in range(max(first, position - PYTHON_PAIR.rows_within), position):
            if self.trace.kind(row) in OUTCOMES and self._departs(row):
                found.append(row)
                if len(found) == PYTHON_PAIR.branches_within:
                    break
        return found[::-1]

    def _departs(self, row: int) -> bool:
        other = self.alignment.row(row)
        return other is not None and self.alignment.green.kind(other) is not self.trace.kind(row)
