"""Which call led to where the failing run was and green's never.

That such a call stands there at all is the change, and nothing that is read below it tells of it: barman's backup asked
its server for an identifier, and below that a connection was tried. jsonpickle asked an object for its state to see
whether it can, and the test counts how often it was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from afterd.compare.python.absence import Ties
from afterd.compare.python.alignment import Alignment
from afterd.model.change import ChangeId
from afterd.trace.python.read import Frame, Node, Steps


class Callers:
    """Of the failing run, beside the good one's. ``failing``: the activations that the failure ended."""

    def __init__(
        self, steps: Steps, alignment: Alignment, ties: Ties, failing: Callable[[], Iterable[Frame]]
    ) -> None:
        self._failing = failing
        self._steps = steps
        self._alignment = alignment
        self._ties = ties

    def changes(self, position: int) -> Iterator[ChangeId]:
        """The changes to the statement, of the nearest activation that both runs have, which called what a row is in;
        none where green's run has such a call, or where a branch below the call decided that the row exists, unless the
        failure ended it.
        """
        frame = self._steps.trace.frame(position)
        if frame not in self._ended and self._decided_below(position):
            return
        while frame is not None and self._alignment.frame(frame) is None:
            caller = frame.parent
            if caller is not None and self._alignment.frame(caller) is not None:
                statement = calling_statement(self._steps, frame)
                if statement is not None:
                    yield from self._ties.of_node(statement)
            frame = caller

    def _decided_below(self, position: int) -> bool:
        """Whether the branch that decided over a row is in an activation that green's run does not have."""
        decided = self._steps.control(position)
        frame = None if decided is None else self._steps.trace.frame(decided)
        return frame is not None and self._alignment.frame(frame) is None

    @cached_property
    def _ended(self) -> frozenset[Frame]:
        return frozenset(self._failing())


def calling_statement(run: Steps, frame: Frame) -> Node | None:
    """The statement that was under way when an activation began, in the one that called it."""
    if frame.parent is None:
        return None
    return run.parameters.statement_at(frame.parent, frame.entered)
