"""What would reverting do? Asked of the recorded values, before anything is run.

The slices of the causes are evaluated again, in execution order. A step whose change is reverted
has green's value if its inputs would be as in green. If not, its old text is evaluated; where that
is not known, it is taken to differ from the new one as it does on green's inputs: not at all, by a
difference, or by going the other way. Where a way would be taken that green did not take either,
nothing is predicted.

A prediction orders the runs. It decides nothing: only a passing run does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from afterd.causality.cause import Link
from afterd.causality.infection import Green, detours, effect, is_compared, is_infected, is_settled
from afterd.logic.evaluation import UNKNOWN, Evaluator, Known, normal, observed_value, same_value
from afterd.logic.terms import distinct_reads
from afterd.model.change import ChangeId, ChangeSet
from afterd.model.term import Read, Sort, SortKind, StepId, Term, reads
from afterd.model.trace import Alignment, Effect, Execution, Predicate, Step
from afterd.weights import ODDS

NOBODY_KNOWS = 0.5


@dataclass(frozen=True, slots=True)
class _Imagined:
    """A step as it would be: its value, whether that is as in green, whether it would happen."""

    value: Known
    as_in_green: bool
    happens: bool = True


class Counterfactual:
    """Predictions from the causes found so far; a later cause makes a new one necessary."""

    def __init__(self, execution: Execution, green: Green, links: Sequence[Link]) -> None:
        self._execution = execution
        self._green = green
        causes = [link.cause for link in links]
        steps = {s.id: s for cause in causes for s in (*cause.beyond, *cause.origins, *cause.steps)}
        self._failure = links[0].cause.predicate if links else None
        own = self._failure.step if self._failure else None
        self._steps = [steps[identifier] for identifier in sorted(steps) if identifier != own]
        self._acting = {step.id: self._changes(step) for step in self._steps}
        self._inputs = {s.id: _input_steps(s.term) for s in self._steps}
        self._contents = {s.id: _content_steps(s.term) for s in self._steps}
        self._detours = {
            step.id: [*detours(execution, green, step), *step.choices] for step in self._steps
        }
        self._known: dict[ChangeSet, float] = {}

    def passes(self, reverted: ChangeSet) -> float:
        """How likely the assertion holds without these changes; 0.5 where nobody knows."""
        if reverted not in self._known:
            self._known[reverted] = self._predicted(reverted)
        return self._known[reverted]

    def _predicted(self, reverted: ChangeSet) -> float:
        if self._failure is None:
            return NOBODY_KNOWS
        imagined: dict[StepId, _Imagined] = {}
        guessed = False
        for step in self._steps:
            new = self._imagine(step, reverted, imagined)
            if new is not None:
                imagined[step.id] = new
                guessed |= (
                    step.old is None and not new.as_in_green and self._touches(step, reverted)
                )
        verdict = self._verdict(self._failure, imagined)
        if verdict is None:
            return NOBODY_KNOWS
        trust = ODDS.guessed if guessed else ODDS.predicted
        return trust if verdict else 1.0 - trust

    def _changes(self, step: Step) -> frozenset[ChangeId]:
        if is_settled(step):
            return frozenset(step.changes)
        return frozenset((*step.changes, *self._execution.omitted(step.id)))

    def _touches(self, step: Step, reverted: ChangeSet) -> bool:
        return bool(self._acting[step.id] & reverted)

    def _imagine(
        self, step: Step, reverted: ChangeSet, imagined: dict[StepId, _Imagined]
    ) -> _Imagined | None:
        """The step as it would be; None where it would be as it was."""
        guard = imagined.get(step.control) if step.control is not None else None
        if guard is not None and not self._reached(step, guard):
            gone = guard.as_in_green and step.green.alignment is Alignment.ABSENT
            return _Imagined(UNKNOWN, as_in_green=gone, happens=not gone)
        touched = self._touches(step, reverted)
        sources = (
            *self._inputs[step.id],
            *self._contents[step.id],
            *self._detours[step.id],
        )
        if not touched and not any(source in imagined for source in sources):
            return None
        own = reverted.intersection(step.changes)
        if own and len(own) < len(set(step.changes)):
            return _Imagined(UNKNOWN, as_in_green=False)  # neither its old text nor its new one
        restored = self._restored(step, imagined)
        if restored is not None and (touched or not self._acting[step.id]):
            return restored
        if any(self._turned(branch, imagined) for branch in self._detours[step.id]):
            return _Imagined(UNKNOWN, as_in_green=False)
        text = step.old if touched and step.old is not None else step.term
        if text is step.old and step.term.sort.kind is SortKind.OPAQUE:
            return self._object(step, _input_steps(text), imagined)
        value = normal(Evaluator(lambda read: _value(read, imagined)).value(text), step.term.sort)
        if touched and step.old is None:
            value = self._old_text(step, value)
        return _Imagined(value, self._is_green(step, value))

    def _object(
        self, step: Step, inputs: Sequence[StepId], imagined: dict[StepId, _Imagined]
    ) -> _Imagined:
        """An object that the old text of a step gives: green's, if all that it reads would be as in green."""
        same = is_compared(step) and all(self._as_in_green(each, imagined) for each in inputs)
        return _Imagined(UNKNOWN, as_in_green=same)

    def _reached(self, step: Step, guard: _Imagined) -> bool:
        """Whether the branch above certainly goes the way that leads to ``step``."""
        assert step.control is not None
        return guard.happens and guard.value == self._execution.step(step.control).value

    def _turned(self, branch: StepId, imagined: dict[StepId, _Imagined]) -> bool:
        """Whether a branch would go another way, or might."""
        return branch in imagined and imagined[branch].value != self._execution.step(branch).value

    def _restored(self, step: Step, imagined: dict[StepId, _Imagined]) -> _Imagined | None:
        """The step as in green, if all that it depends on would be."""
        sources = [*self._inputs[step.id], *self._detours[step.id]]
        if step.control is not None:
            sources.append(step.control)
        if not all(self._as_in_green(source, imagined) for source in sources):
            return None
        if not self._contents_restored(step, imagined):
            return None
        if self._green.displaced(step.id):
            return None  # what green had here is another step's
        if step.green.alignment is Alignment.ABSENT:
            return _Imagined(UNKNOWN, as_in_green=True, happens=False)
        value = self._green.value(step)
        is_object = step.term.sort.kind is SortKind.OPAQUE and is_compared(step)
        if value is UNKNOWN and not is_object:
            return None
        return _Imagined(value, as_in_green=True)

    def _contents_restored(self, step: Step, imagined: dict[StepId, _Imagined]) -> bool:
        """Whether what was written into the objects that a step reads would be as in green: what green has no
        counterpart of was written into an object that would be another one.
        """
        other = any(
            source in imagined and imagined[source].as_in_green for source in self._inputs[step.id]
        )
        return all(
            self._as_in_green(write, imagined)
            or (other and self._execution.step(write).green.alignment is Alignment.ABSENT)
            for write in self._contents[step.id]
        )

    def _old_text(self, step: Step, value: Known) -> Known:
        """``value`` of the new text, moved as the old text differs from it where both are known."""
        here = effect(step)
        if here is Effect.NEUTRAL or value is UNKNOWN:
            return value
        if isinstance(value, bool) and here is Effect.MATTERS:
            return not value
        old, new = self._green.value(step), self._green.on_green_inputs(step)
        if UNKNOWN in (old, new) or self._green.displaced(step.id):
            return UNKNOWN
        return _moved_value(value, old, new, step.term.sort)

    def _as_in_green(self, source: StepId, imagined: dict[StepId, _Imagined]) -> bool:
        if source in imagined:
            return imagined[source].as_in_green
        return self._execution.step(source).green.alignment is Alignment.SAME

    def _is_green(self, step: Step, value: Known) -> bool:
        green = self._green.value(step)
        return value is not UNKNOWN and green is not UNKNOWN and same_value(value, green)

    def _verdict(self, failure: Predicate, imagined: dict[StepId, _Imagined]) -> bool | None:
        inputs = distinct_reads(failure.condition)
        if not any(read.step in imagined for read in inputs):
            return self._unreached(failure, imagined)
        value = Evaluator(lambda read: _value(read, imagined)).value(failure.condition)
        if isinstance(value, bool):
            return value
        sources = [self._execution.step(read.step) for read in inputs]
        ill = [s for s in sources if is_infected(s) or s.id in imagined]
        return True if all(self._as_in_green(s.id, imagined) for s in ill) else None

    def _unreached(self, failure: Predicate, imagined: dict[StepId, _Imagined]) -> bool | None:
        """What the assertion reads would not move: it may not be reached, as in green."""
        control = self._execution.step(failure.step).control
        guard = imagined.get(control) if control is not None else None
        return True if guard is not None and guard.as_in_green else None


def _input_steps(term: Term) -> list[StepId]:
    """The steps that define what a term reads."""
    return [*dict.fromkeys(read.step for read in reads(term) if not read.into)]


def _content_steps(term: Term) -> list[StepId]:
    """The steps that only wrote into objects that it reads."""
    defining = set(_input_steps(term))
    return [*dict.fromkeys(read.step for read in reads(term) if read.step not in defining)]


def _value(read: Read, imagined: dict[StepId, _Imagined]) -> Known:
    if read.step not in imagined:
        return observed_value(read)
    now = imagined[read.step]
    return now.value if now.happens else UNKNOWN


def _moved_value(value: Known, old: Known, new: Known, sort: Sort) -> Known:
    """``value`` changed as ``new`` must be changed to become ``old``."""
    if same_value(old, new):
        return value
    if isinstance(value, bool):
        return not value
    if sort.kind not in {SortKind.BITVEC, SortKind.INT}:
        return UNKNOWN
    if not (isinstance(value, int) and isinstance(old, int) and isinstance(new, int)):
        return UNKNOWN
    return normal(value + old - new, sort)
