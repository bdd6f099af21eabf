"""What a change did that green's run does not have, and the calls around it.

Where code in between is not followed, no step leads from the failure back to a change. What the change
did is in both runs all the same, and so is what each call around it gave.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from afterd.compare.python.absence import Absence, Ties
from afterd.compare.python.alignment import Alignment
from afterd.limits import PYTHON_PAIR
from afterd.model.change import ChangeId
from afterd.model.trace import Alignment as Aligned
from afterd.trace.python.read import Frame, Node, Trace
from afterd.trace.python.record.rows import Kind

_OF_FRAMES = frozenset({Kind.ENTER, Kind.EXIT})
_SILENT = frozenset({"Try", "TryStar", "Pass"})


class Acted:
    """Finds rows by their change; ``differs`` says how a row of the failing run stands to green's."""

    def __init__(
        self,
        alignment: Alignment,
        absence: Absence,
        ties: Ties,
        differs: Callable[[int], Aligned],
    ) -> None:
        self.trace = alignment.bad
        self.green = alignment.green
        self.inverse = absence.inverse
        self.ties = ties
        self.differs = differs

    def altered(self, change: ChangeId) -> Iterator[int]:
        """The rows in a change's lines that green has with another value, then those that it does
        not have; of each kind the last first.
        """
        rows = _rows(self.trace, lambda node: change in self.ties.of_node(node))
        found = {row: self.differs(row) for row in rows}
        for alignment in (Aligned.DIFFERENT, Aligned.ABSENT):
            yield from (row for row, known in found.items() if known is alignment)

    def missed(self, change: ChangeId) -> int | None:
        """The number of the last of green's rows in a change's lines that has no counterpart; of those the last that
        says what it did, not that something is tried or goes on, nor what was only moved: that runs here too.
        """
        rows = _rows(self.green, lambda node: change in self.ties.removed(node))
        missed = [row for row in rows if self.inverse.row(row) is None]
        mine = _rows(self.trace, lambda node: change in self.ties.of_node(node))
        run = {node.text for row in mine if (node := _statement(self.trace, row)) is not None}
        telling = (row for row in missed if _tells(self.green, row, run))
        row = next(telling, missed[0] if missed else None)
        return None if row is None else self.green.number(row)

    def calling(self, position: int) -> int | None:
        """The row of the calling activation that follows the call: of the rows of its statement the
        first that is not as in green.
        """
        frame = self.trace.frame(position)
        caller = None if frame is None else frame.parent
        if frame is None or caller is None:
            return None
        left = frame.entered if frame.left is None else frame.left
        first = row = self._next_deed(caller, left)
        statement = None if row is None else _statement(self.trace, row)
        while row is not None and _statement(self.trace, row) is statement:
            if self.differs(row) in {Aligned.DIFFERENT, Aligned.ABSENT}:
                return row
            row = self._next_deed(caller, row)
        return first

    def _next_deed(self, frame: Frame, position: int) -> int | None:
        """The frame's next row that says what it did, and not only that it goes on."""
        row = self.trace.next_in_frame(frame, position)
        while row is not None and self.trace.kind(row) is Kind.SYNC:
            row = self.trace.next_in_frame(frame, row)
        return row


def _tells(trace: Trace, row: int, run: Collection[str]) -> bool:
    """Whether a row says what it did, and its statement is none of those that were ``run``."""
    node = trace.node(row)
    silent = node is None or trace.kind(row) is Kind.SYNC or node.type in _SILENT
    return not silent and node is not None and node.statement.text not in run


def _statement(trace: Trace, row: int) -> Node | None:
    node = trace.node(row)
    return None if node is None else node.statement


def _rows(trace: Trace, chosen: Callable[[Node], bool]) -> Sequence[int]:
    """The last rows of the nodes that are chosen, the last first."""
    found: list[int] = []
    for site in dict.fromkeys(trace.sites):
        node, kind = trace.decode(site)
        if node is not None and kind not in _OF_FRAMES and chosen(node):
            found.extend(trace.at_site(node, kind))
    return sorted(found, reverse=True)[: PYTHON_PAIR.altered_rows]
