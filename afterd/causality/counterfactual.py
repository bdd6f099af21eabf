"""What would reverting do? Asked of the recorded values, before anything is run.

Reverting the change at a step whose inputs are as in green gives the step green's value. From
there on the terms of the causes are evaluated: an assertion that holds then is predicted to pass.
Where a step's old text would have worked on infected inputs, or another way would have been taken
that green did not take either, nothing is predicted.

A prediction orders the runs. It decides nothing: only a passing run does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from afterd.causality.cause import Link
from afterd.causality.infection import infected, settled
from afterd.causality.suspicion import omitted
from afterd.logic.evaluate import UNKNOWN, Evaluator, Known, normal, observed, same
from afterd.logic.terms import distinct_reads
from afterd.model.change import ChangeId, ChangeSet
from afterd.model.term import Read, StepId
from afterd.model.trace import Alignment, Execution, Predicate, Step


@dataclass(frozen=True, slots=True)
class _Imagined:
    """A step as it would be: its value, whether that is as in green, whether it would happen."""

    value: Known
    as_in_green: bool
    happens: bool = True


class Counterfactual:
    """Predictions from the causes found so far; a later cause makes a new one necessary."""

    def __init__(self, execution: Execution, links: Sequence[Link]) -> None:
        self._execution = execution
        steps = {step.id: step for link in links for step in link.cause.steps}
        self._steps = [steps[identifier] for identifier in sorted(steps)]
        self._failure = links[0].cause.predicate if links else None
        self._touching = {step.id: self._changes(step) for step in self._steps}

    @property
    def size(self) -> int:
        """How many steps a prediction looks at."""
        return len(self._steps)

    def passes(self, reverted: ChangeSet) -> bool | None:
        """Whether the failed assertion would hold without these changes; None where unknown."""
        if self._failure is None:
            return None
        imagined: dict[StepId, _Imagined] = {}
        for step in self._steps:
            if step.id != self._failure.step and (new := self._imagine(step, reverted, imagined)):
                imagined[step.id] = new
        return self._verdict(self._failure, imagined)

    def _changes(self, step: Step) -> frozenset[ChangeId]:
        if settled(step):
            return frozenset(step.changes)
        return frozenset((*step.changes, *omitted(self._execution, step)))

    def _imagine(
        self, step: Step, reverted: ChangeSet, imagined: dict[StepId, _Imagined]
    ) -> _Imagined | None:
        """The step as it would be; None where it would be as it was."""
        guard = imagined.get(step.control) if step.control is not None else None
        if guard is not None and not self._reached(step, guard):
            gone = guard.as_in_green and step.green.alignment is Alignment.ABSENT
            return _Imagined(UNKNOWN, as_in_green=gone, happens=not gone)
        touched = bool(self._touching[step.id] & reverted)
        moved = any(read.step in imagined for read in distinct_reads(step.term))
        if not touched and not moved:
            return None
        restored = self._restored(step, imagined)
        if touched:
            return restored or _Imagined(UNKNOWN, as_in_green=False)
        if restored is not None and not self._touching[step.id]:
            return restored
        value = Evaluator(lambda read: _value(read, imagined)).value(step.term)
        return _Imagined(value, self._is_green(step, value))

    def _reached(self, step: Step, guard: _Imagined) -> bool:
        """Whether the branch above certainly goes the way that leads to ``step``."""
        assert step.control is not None
        return guard.happens and guard.value == self._execution.step(step.control).value

    def _restored(self, step: Step, imagined: dict[StepId, _Imagined]) -> _Imagined | None:
        """The step as in green, if all that it depends on would be."""
        inputs = [read.step for read in distinct_reads(step.term)]
        if step.control is not None:
            inputs.append(step.control)
        if not all(self._as_in_green(source, imagined) for source in inputs):
            return None
        if step.green.alignment is Alignment.ABSENT:
            return _Imagined(UNKNOWN, as_in_green=True, happens=False)
        if step.green.alignment is Alignment.UNKNOWN:
            return None
        return _Imagined(normal(step.green.value, step.term.sort), as_in_green=True)

    def _as_in_green(self, source: StepId, imagined: dict[StepId, _Imagined]) -> bool:
        if source in imagined:
            return imagined[source].as_in_green
        return self._execution.step(source).green.alignment is Alignment.SAME

    def _is_green(self, step: Step, value: Known) -> bool:
        aligned = step.green.alignment in {Alignment.SAME, Alignment.DIFFERENT}
        green = normal(step.green.value, step.term.sort)
        return aligned and value is not UNKNOWN and green is not UNKNOWN and same(value, green)

    def _verdict(self, failure: Predicate, imagined: dict[StepId, _Imagined]) -> bool | None:
        inputs = distinct_reads(failure.condition)
        if not any(read.step in imagined for read in inputs):
            return self._unreached(failure, imagined)
        value = Evaluator(lambda read: _value(read, imagined)).value(failure.condition)
        if isinstance(value, bool):
            return value
        sources = [self._execution.step(read.step) for read in inputs]
        ill = [s for s in sources if infected(s) or s.id in imagined]
        return True if ill and all(self._as_in_green(s.id, imagined) for s in ill) else None

    def _unreached(self, failure: Predicate, imagined: dict[StepId, _Imagined]) -> bool | None:
        """No value that the assertion reads would move: it fails again, unless never reached."""
        control = self._execution.step(failure.step).control
        guard = imagined.get(control) if control is not None else None
        return guard.as_in_green or None if guard is not None else None


def _value(read: Read, imagined: dict[StepId, _Imagined]) -> Known:
    if read.step not in imagined:
        return observed(read)
    now = imagined[read.step]
    return now.value if now.happens else UNKNOWN
