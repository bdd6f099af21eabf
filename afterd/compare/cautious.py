"""A tracer's bug may cost an edge of the tree, never the answer: what cannot be read is unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from afterd.model.change import ChangeId
from afterd.model.location import Location
from afterd.model.term import OPAQUE, Concrete, StepId, Term
from afterd.model.trace import Conduct, Predicate, Step, StepKind, TwinExecution

_T = TypeVar("_T")
_MOST = 5  # distinct faults that are reported


class CautiousExecution:
    """An execution whose every answer is given, if only "unknown"; reversion goes on without it."""

    def __init__(self, execution: TwinExecution) -> None:
        self._execution = execution
        self._faults: dict[str, None] = {}

    def failures(self) -> Sequence[Predicate]:
        """The failed assertions; none when they cannot be read."""
        return self._asked(self._execution.failures, ())

    def step(self, identifier: StepId) -> Step:
        """The step; an opaque one, of no known place, when it cannot be read."""
        lost = Concrete(None, OPAQUE, "a step that could not be read")
        unknown = Step(identifier, Location(""), "", StepKind.OPAQUE, lost)
        return self._asked(lambda: self._execution.step(identifier), unknown)

    def indirect_influences(self, use: StepId, definition: StepId) -> Sequence[StepId]:
        """Branches between the two; none when they cannot be read."""
        return self._asked(lambda: self._execution.indirect_influences(use, definition), ())

    def omitted(self, step: StepId) -> Sequence[ChangeId]:
        """Changes that act through absence; none when they cannot be read."""
        return self._asked(lambda: self._execution.omitted(step), ())

    def counterpart(self, step: StepId) -> Term | None:
        """The other run's term; none when it cannot be read."""
        return self._asked(lambda: self._execution.counterpart(step), None)

    def altered(self, change: ChangeId) -> Sequence[StepId]:
        """Steps that a change altered; none when they cannot be read."""
        return self._asked(lambda: self._execution.altered(change), ())

    def missed(self, change: ChangeId) -> Step | None:
        """A step that did not happen; none when it cannot be read."""
        return self._asked(lambda: self._execution.missed(change), None)

    def calling(self, step: StepId) -> StepId | None:
        """The caller's step; none when it cannot be read."""
        return self._asked(lambda: self._execution.calling(step), None)

    def conduct(self) -> Mapping[ChangeId, Conduct]:
        """The changes' conduct; of none when it cannot be read."""
        return self._asked(self._execution.conduct, {})

    def executed_changes(self) -> Sequence[ChangeId]:
        """Executed changes; none when they cannot be read."""
        return self._asked(self._execution.executed_changes, ())

    def work(self) -> int:
        """What answering has cost so far."""
        return self._execution.work()

    def notes(self) -> Sequence[str]:
        """The execution's own notes, and what could not be read."""
        none: Sequence[str] = ()
        own = self._asked(self._execution.notes, none)
        faults = [f"A part of the trace could not be read ({fault})." for fault in self._faults]
        return (*own, *faults[:_MOST])

    def _asked(self, question: Callable[[], _T], otherwise: _T) -> _T:
        try:
            return question()
        except Exception as error:  # noqa: BLE001 - whatever a hostile trace provokes is one gap more
            self._faults.setdefault(f"{type(error).__name__}: {error}"[:120])
            return otherwise
