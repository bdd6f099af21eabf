"""What frames handed out to whoever called or iterated: RETURN, YIELD, EXIT without either."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property

from afterd.tracing.python.frames import Frame
from afterd.tracing.python.runtime.rows import Kind
from afterd.tracing.python.trace import Trace

_LAST_ROWS = 8  # of a frame, between its RETURN and its EXIT


class Handing:
    """Looks up, for a row that received something, the row that handed it out."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def returned(self, position: int, frame: Frame) -> int | None:
        """The row in a traced callee that handed out what was received at a position.

        The last RETURN, YIELD or EXIT of another frame since this frame's previous row; None when
        no traced frame ran in between.
        """
        previous = self.trace.previous_in_frame(frame, position)
        while previous > frame.entered and self.trace.kind(previous) is Kind.SYNC:
            previous = self.trace.previous_in_frame(frame, previous)  # written on coming back
        rows = self.rows
        index = bisect_left(rows, position) - 1
        if index < 0 or rows[index] <= previous:
            return None
        return self._end_of(rows[index])

    def all_returned(self, position: int, frame: Frame) -> list[int]:
        """All that frames entered or resumed from here handed out since the frame's last row.

        Code that is not followed may have looked at any of it: the items of ``list(generator)``.
        """
        previous = self.trace.previous_in_frame(frame, position)
        start, end = (bisect_left(self.rows, row) for row in (previous + 1, position))
        return list(
            dict.fromkeys(
                self._end_of(row) for row in self.rows[start:end] if self._direct(row, frame)
            )
        )

    def _direct(self, row: int, frame: Frame) -> bool:
        giver = self.trace.frame(row)
        return giver is not None and giver.parent is frame

    def _end_of(self, row: int) -> int:
        """For the EXIT of a frame that returned something, its RETURN: a ``with`` block's exit runs
        code in between.
        """
        left = self.trace.frame(row)
        if self.trace.kind(row) is Kind.EXIT and left is not None:
            for earlier in reversed(left.rows[-_LAST_ROWS:]):
                if self.trace.kind(earlier) is Kind.RETURN:
                    return earlier
        return row

    @cached_property
    def rows(self) -> list[int]:
        """The positions of all RETURN, YIELD and EXIT rows."""
        wanted = {Kind.RETURN, Kind.YIELD, Kind.EXIT}
        return [row for row in range(len(self.trace)) if self.trace.kind(row) in wanted]
