"""Writing a recorded execution as the papers print one: a line a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from afterd.logic.evaluation import UNKNOWN, evaluate
from afterd.logic.terms import distinct_reads
from afterd.model.change import ChangeId
from afterd.model.location import Location
from afterd.model.outcome import FailureKind
from afterd.model.term import BOOL, INT, Apply, Const, Op, Read, Sort, StepId, Term, Value
from afterd.model.trace import Alignment, Conduct, GreenValue, Predicate, Step, StepKind, Trial

SAME, ABSENT = Alignment.SAME, Alignment.ABSENT


@dataclass
class Recorded:
    """Implements ``model.trace.Execution`` over steps that a test writes down.

    The value of each step is computed from its term, so a test cannot contradict itself. ``green``
    is the value of the green run, an Alignment, or nothing for UNKNOWN.
    """

    steps: dict[StepId, Step] = field(default_factory=dict)
    failed: list[Predicate] = field(default_factory=list)
    influences: dict[tuple[StepId, StepId], list[StepId]] = field(default_factory=dict)
    absent: dict[StepId, tuple[ChangeId, ...]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    conducts: dict[ChangeId, Conduct] = field(default_factory=dict)
    asked: list[StepId] = field(default_factory=list)
    counterparts: dict[StepId, Term] = field(default_factory=dict)
    not_run: dict[ChangeId, Step] = field(default_factory=dict)
    callers: dict[StepId, StepId] = field(default_factory=dict)
    trials: dict[StepId, Trial] = field(default_factory=dict)

    def assign(
        self,
        step: StepId,
        target: str,
        term: Term | int,
        *,
        green: Value | Alignment = Alignment.UNKNOWN,
        control: StepId | None = None,
        changes: Iterable[ChangeId] = (),
        kind: StepKind = StepKind.ASSIGN,
        line: int = 0,
    ) -> Read:
        """A step that defines ``target``; the result reads it."""
        term = Const(term, INT) if isinstance(term, int) else term
        value = self._value(term)
        self.steps[step] = Step(
            id=step,
            location=Location("f.c", line or step),
            text=f"{target} = …",
            kind=kind,
            term=term,
            value=value,
            rendered=str(value),
            target=target,
            control=control,
            changes=tuple(changes),
            green=_green(green),
        )
        return Read(step, term.sort, target, value)

    def input(self, step: StepId, target: str, value: int) -> Read:
        """A value from outside; the same in both runs."""
        return self.assign(step, target, value, green=value, kind=StepKind.INITIAL)

    def branch(
        self,
        step: StepId,
        condition: Term,
        *,
        green: Value | Alignment = Alignment.UNKNOWN,
        control: StepId | None = None,
        changes: Iterable[ChangeId] = (),
        line: int = 0,
    ) -> StepId:
        """A branch; its outcome is the condition's value."""
        self.assign(
            step, "", condition, green=green, control=control, changes=changes,
            kind=StepKind.BRANCH, line=line,
        )  # fmt: skip
        self.steps[step] = replace(self.steps[step], text=f"branch at {line or step}", target="")
        return step

    def fail(self, step: StepId, condition: Term, *, control: StepId | None = None) -> Predicate:
        """The failed assertion; ``condition`` must be false."""
        assert self._value(condition) is False, "the assertion holds"
        self.assign(step, "", condition, control=control, kind=StepKind.CALL)
        self.steps[step] = replace(self.steps[step], text="assert", target="")
        predicate = Predicate(step, condition, "the assertion", FailureKind.ASSERTION)
        self.failed.append(predicate)
        return predicate

    def failures(self) -> Sequence[Predicate]:
        return self.failed

    def step(self, identifier: StepId) -> Step:
        self.asked.append(identifier)
        return self.steps[identifier]

    def indirect_influences(self, use: StepId, definition: StepId) -> Sequence[StepId]:
        return self.influences.get((use, definition), [])

    def omitted(self, step: StepId) -> Sequence[ChangeId]:
        return self.absent.get(step, ())

    def counterpart(self, step: StepId) -> Term | None:
        """As given."""
        return self.counterparts.get(step)

    def altered(self, change: ChangeId) -> Sequence[StepId]:
        found = [step for step in self.steps.values() if change in step.changes]
        return [step.id for step in reversed(found) if step.green.alignment is not Alignment.SAME]

    def missed(self, change: ChangeId) -> Step | None:
        """As given."""
        return self.not_run.get(change)

    def trial(self, step: StepId) -> Trial:
        """As given; what is not cannot be set."""
        return self.trials.get(step, Trial.NOT_RUN)

    def calling(self, step: StepId) -> StepId | None:
        """As given."""
        return self.callers.get(step)

    def conduct(self) -> Mapping[ChangeId, Conduct]:
        """As given."""
        return self.conducts

    def executed_changes(self) -> Sequence[ChangeId]:
        last = sorted(self.steps.values(), key=lambda step: -step.id)
        return list(dict.fromkeys(change for step in last for change in step.changes))

    def work(self) -> int:
        return len(self.asked)

    def notes(self) -> Sequence[str]:
        return self.remarks

    def _value(self, term: Term) -> Value:
        for read in distinct_reads(term):
            assert read.step in self.steps, f"step {read.step} is read before it was written"
        value = evaluate(term)
        assert value is not UNKNOWN
        return value


def _green(green: Value | Alignment) -> GreenValue:
    if isinstance(green, Alignment):
        return GreenValue(green)
    return GreenValue(Alignment.DIFFERENT, green, str(green))


def aligned(execution: Recorded) -> Recorded:
    """The same with DIFFERENT made SAME where green's value is the step's own."""
    for step in execution.steps.values():
        if step.green.alignment is Alignment.DIFFERENT and step.green.value == step.value:
            green = replace(step.green, alignment=Alignment.SAME)
            execution.steps[step.id] = replace(step, green=green)
    return execution


def op(operator: Op, *args: Term | int, sort: Sort = INT) -> Term:
    """An application over integers; numbers are literals."""
    terms = tuple(Const(arg, INT) if isinstance(arg, int) else arg for arg in args)
    return Apply(operator, terms, sort)


def compare(operator: Op, *args: Term | int) -> Term:
    """A condition over integers."""
    return op(operator, *args, sort=BOOL)


def without_green(execution: Recorded) -> Recorded:
    """The same execution with no green run beside it."""
    unknown = GreenValue(Alignment.UNKNOWN)
    steps: Mapping[StepId, Step] = execution.steps
    execution.steps = {i: replace(step, green=unknown) for i, step in steps.items()}
    return execution
