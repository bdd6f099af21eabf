"""``pytest.raises`` that saw nothing: what kept the exception from coming.

In the good version it came. Either a branch led to its ``raise`` there and went the other way here, or it came here as
well and was caught on its way, by a handler that was not entered there; or the function that raised it, or called what
did, was left here before it came to that, by a branch that was not there.
"""

from __future__ import annotations

from afterd.compare.python.alignment import Alignment
from afterd.trace.python.read import Frame, Recorded, Steps, Trace
from afterd.trace.python.record.rows import Kind


class Unraised:
    """Of the failing version, beside the good one's."""

    def __init__(
        self, steps: Steps, green: Steps, alignment: Alignment, inverse: Alignment
    ) -> None:
        self._steps = steps
        self._green = green
        self._alignment = alignment
        self._inverse = inverse

    def branch(self, frame: Frame, wanted: str) -> int | None:
        """The row of the branch or handler, in the activation that waited for an exception of the class ``wanted``;
        None where it is not known.
        """
        activation = self._alignment.frame(frame)
        if activation is None:
            return None
        caught = self._caught(frame, wanted)
        if caught is not None:
            return caught
        departing = self._departing(activation.entered, activation.left)
        return self._leaving(activation, wanted) if departing is None else departing

    def _caught(self, frame: Frame, wanted: str) -> int | None:
        """The last handler of such an exception that green did not enter."""
        trace = self._steps.trace
        last = len(trace) if frame.left is None else frame.left
        for row in range(last - 1, frame.entered, -1):
            node = trace.node(row) if trace.kind(row) is Kind.TRUE else None
            if node is None or node.type != "ExceptHandler" or self._alignment.row(row) is not None:
                continue
            if _class_of(trace.raised.error(row - 1), trace) == wanted:
                return row
        return None

    def _leaving(self, activation: Frame, wanted: str) -> int | None:
        """The branch, which green has not, by which the function was left that green's exception came from."""
        green = self._green.trace
        last = len(green) if activation.left is None else activation.left
        raised = [row for row in range(last - 1, activation.entered, -1) if green.raised.error(row)]
        of_class = (row for row in raised if _class_of(green.raised.error(row), green) == wanted)
        row = next(of_class, next(iter(raised), None))  # or of one below it
        left = None if row is None else green.frame(green.raised.origin(row))
        while left is not None and left is not activation:
            mine = self._inverse.frame(left)
            if mine is not None:
                return self._branch_alone(mine)
            left = left.parent
        return None

    def _branch_alone(self, frame: Frame) -> int | None:
        """The innermost branch above the end of an activation that green has not."""
        trace = self._steps.trace
        end = None if frame.left is None else trace.previous_in_frame(frame, frame.left)
        branches = {Kind.TRUE, Kind.FALSE}
        decided = end if end is None or trace.kind(end) in branches else self._steps.control(end)
        while decided is not None and self._alignment.row(decided) is not None:
            decided = self._steps.control(decided)
        return decided

    def _departing(self, first: int, last: int | None) -> int | None:
        """The branch of the failing run that went another way than the one before green's raise."""
        green = self._green.trace
        end = len(green) if last is None else last
        for row in range(end - 1, first, -1):
            if green.kind(row) is not Kind.RAISE:
                continue
            decided = self._green.control(row)
            while decided is not None:
                mine = self._alignment.opposite(decided)
                if mine is not None:
                    return mine
                decided = self._green.control(decided)
        return None


def _class_of(error: Recorded, trace: Trace) -> str:
    """The class of an exception; empty where it is none."""
    return str(trace.raw.header["types"][error[2]][1]) if isinstance(error, tuple) else ""
