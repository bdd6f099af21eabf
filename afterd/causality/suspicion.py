"""Which changes to try first: how a step stands to the green run says where the infection enters.

A step that has another value than in green although everything it read was as in green can only
have been changed itself. One that has green's value carries nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from afterd.causality.cause import Cause
from afterd.model.change import ChangeId
from afterd.model.term import reads
from afterd.model.trace import Alignment, Execution, Step, StepKind

STRONG = 2.0
"""Up to this rank a change is tried alone before it is tried with others."""
_BEYOND = 4.0
_CARRIES_NOTHING = 5.0
_SHARED = 0.25


class Suspicion:
    """The rank of every change met so far; lower is more suspicious, nearer steps win ties."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._rank: dict[ChangeId, tuple[float, int]] = {}
        self._met = 0

    def meet(self, cause: Cause) -> None:
        """Take note of the changes of a cause's steps."""
        for step in cause.steps:
            self._note(step.changes, self._of_step(step))
            self._note(self._omitted(step), self._of_absence(step))
        for step in cause.beyond:
            self._note(step.changes, _BEYOND + self._of_step(step))

    def ordered(self, changes: frozenset[ChangeId] | None = None) -> list[ChangeId]:
        """The changes met (or those given), most suspicious first."""
        known = self._rank if changes is None else {c: r for c, r in self._rank.items() if c in changes}
        return sorted(known, key=lambda change: known[change])

    def rank(self, change: ChangeId) -> float:
        """The rank of a change; infinite for one that was not met."""
        return self._rank.get(change, (float("inf"), 0))[0]

    def _note(self, changes: tuple[ChangeId, ...], rank: float) -> None:
        shared = rank + _SHARED * (len(changes) - 1)
        for change in changes:
            self._met += 1
            old = self._rank.get(change, (float("inf"), self._met))
            self._rank[change] = (min(shared, old[0]), min(old[1], self._met))

    def _omitted(self, step: Step) -> tuple[ChangeId, ...]:
        if step.green.alignment is Alignment.SAME and step.kind is not StepKind.OPAQUE:
            return ()
        return tuple(self._execution.omitted(step.id))

    def _of_step(self, step: Step) -> float:
        match step.green.alignment:
            case Alignment.DIFFERENT:
                return 0.0 if self._clean(step) else 1.0
            case Alignment.ABSENT:
                return 1.0 if self._entered_by(step) else 2.0
            case Alignment.UNKNOWN:
                return 3.0
        return _CARRIES_NOTHING

    def _of_absence(self, step: Step) -> float:
        """A removed writer or guard explains a different value only where nothing present does."""
        return 0.5 if step.green.alignment is Alignment.DIFFERENT and not step.changes else 2.5

    def _clean(self, step: Step) -> bool:
        """Whether everything the step read was as in green."""
        return all(alignment is Alignment.SAME for alignment in self._read_by(step))

    def _entered_by(self, step: Step) -> bool:
        """Whether the step is at the edge of what green did not execute."""
        if step.control is None:
            return True
        return self._execution.step(step.control).green.alignment is not Alignment.ABSENT

    def _read_by(self, step: Step) -> Iterator[Alignment]:
        for read in reads(step.term):
            yield self._execution.step(read.step).green.alignment
