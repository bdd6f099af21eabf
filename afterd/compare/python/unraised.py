"""``pytest.raises`` that saw nothing: what kept the exception from coming.

In the good version it came. Either a branch led to its ``raise`` there and went the other way here, or it came here as
well and was caught on its way, by a handler that was not entered there.
"""

from __future__ import annotations

from afterd.compare.python.alignment import Alignment
from afterd.trace.python.read import Frame, Steps
from afterd.trace.python.record.rows import Kind


class Unraised:
    """Of the failing version, beside the good one's."""

    def __init__(self, steps: Steps, green: Steps, alignment: Alignment) -> None:
        self._steps = steps
        self._green = green
        self._alignment = alignment

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
        return self._departing(activation.entered, activation.left)

    def _caught(self, frame: Frame, wanted: str) -> int | None:
        """The last handler of such an exception that green did not enter."""
        trace = self._steps.trace
        last = len(trace) if frame.left is None else frame.left
        for row in range(last - 1, frame.entered, -1):
            node = trace.node(row) if trace.kind(row) is Kind.TRUE else None
            if node is None or node.type != "ExceptHandler" or self._alignment.row(row) is not None:
                continue
            error = trace.raised.error(row - 1)
            if isinstance(error, tuple) and trace.raw.header["types"][error[2]][1] == wanted:
                return row
        return None

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
