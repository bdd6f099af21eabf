"""A recorded failing run as a subject, in any language that is traced: its terms are the formula.

Nothing is executed again, so there is one path: where a branch goes the other way, what it
controlled, and what its other side could have redefined, is free (CONBAS's control statements).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from afterd.limits import DEMAND
from afterd.localization.formula.report import Line
from afterd.logic import (
    Branch,
    Definition,
    PathCondition,
    ProgramFormula,
    Statement,
    TooLargeError,
    Violated,
    distinct_reads,
)
from afterd.model.term import BOOL, Apply, Const, Op, Read, StepId, Term
from afterd.model.trace import Execution, Predicate, Step, StepKind

STEPS = 3000


@dataclass(slots=True)
class RecordedRun:
    """One failed assertion of a recorded execution. ``steps`` bounds how far back terms are kept.

    ``numbered`` are the lines whose assignments are the inputs, each with its input's number; without
    any, what was there from the beginning is.
    """

    execution: Execution
    predicate: Predicate
    steps: int = STEPS
    numbered: Mapping[Line, int] = field(default_factory=dict)
    window: int = 0  # steps that are looked back over; 0: as far as terms are kept

    def trace(self) -> ProgramFormula:
        """What the run computed on the way to the assertion. Raises TooLargeError without terms."""
        found, branches = self._behind(self.window or self.steps)
        definitions: list[Definition] = []
        for identifier in sorted(found):
            definitions += self._defined(found[identifier], branches.get(identifier, ()))
        if not definitions:
            raise TooLargeError("the recording has no terms")
        inputs = tuple(
            Definition(self._input(s), Const(s.value, s.term.sort))
            for s in found.values()
            if (self._is_numbered(s) if self.numbered else s.kind is StepKind.INITIAL)
        )
        path = tuple(
            PathCondition(_as_run(step), _statement(step))
            for _, step in sorted(found.items())
            if step.kind is StepKind.BRANCH
        )
        executed = tuple({_statement(step): None for step in found.values()})
        goal = Violated(self.predicate.text, self.predicate.condition)
        return ProgramFormula(tuple(definitions), inputs, (), (goal,), path=path, executed=executed)

    def on_demand(self, explored: Collection[Branch]) -> ProgramFormula:
        """The same: other sides were not recorded."""
        del explored
        return self.trace()

    def all_paths(self, most: int = 0, /) -> ProgramFormula:
        """A recording has one path."""
        del most
        raise TooLargeError("only the path that was run is recorded")

    def paths_leaving_once(self) -> ProgramFormula:
        """A recording has one path."""
        return self.all_paths()

    def force_less(self) -> bool:
        """No side is forced in a recording."""
        return False

    def doubt_premises(self) -> bool:
        """What Python's library makes of the input is no statement of the program's."""
        return False

    def windows(self) -> Sequence[int]:
        """Steps that are looked back over."""
        found, _ = self._behind(self.steps)
        return DEMAND.windows_of(len(found))

    def extent(self) -> int:
        """Steps that the assertion depends on, as far as terms are kept."""
        return self.windows()[-1]

    def look_back(self, window: int, /) -> None:
        """Look back over so many steps from now on."""
        self.window = window

    def _behind(self, most: int) -> tuple[dict[StepId, Step], dict[StepId, tuple[StepId, ...]]]:
        """At most so many steps that the assertion depends on, latest first; per step the branches it
        rests on.
        """
        found: dict[StepId, Step] = {}
        branches: dict[StepId, tuple[StepId, ...]] = {}
        waiting = {read.step for read in distinct_reads(self.predicate.condition)}
        while waiting and len(found) < most:
            identifier = max(waiting)
            waiting.discard(identifier)
            step = found[identifier] = self.execution.step(identifier)
            rests = [] if step.control is None else [step.control]
            for read in distinct_reads(step.term):
                rests += self.execution.indirect_influences(identifier, read.step)
                waiting.add(read.step)
            branches[identifier] = tuple(dict.fromkeys(rests))
            waiting |= set(rests)
            waiting -= set(found)
        return found, branches

    def _defined(self, step: Step, rests: Collection[StepId]) -> list[Definition]:
        """The step's own value is soft; read elsewhere it is free where a branch went the other way."""
        if step.kind is StepKind.INITIAL:
            known = Definition(step.id, Const(step.value, step.term.sort))
            return [known] if self.numbered else []
        if self._is_numbered(step):
            return [Definition(step.id, Read(self._input(step), step.term.sort, "", step.value))]
        own, sort = -step.id - 1, step.term.sort
        made: Term = Read(own, sort, step.target, step.value)
        for branch in rests:
            free = Read(_unrecorded_step(step.id), sort, "", step.value)
            made = Apply(Op.ITE, (_as_run(self.execution.step(branch)), made, free), sort)
        soft = Definition(own, step.term, _statement(step))
        return [soft, Definition(step.id, made)]

    def _is_numbered(self, step: Step) -> bool:
        place = (step.location.file, step.location.line)
        return step.kind is StepKind.ASSIGN and place in self.numbered

    def _input(self, step: Step) -> StepId:
        """What an input is called: a numbered one the same in every recording."""
        place = (step.location.file, step.location.line)
        return input_step(self.numbered[place]) if place in self.numbered else step.id


def input_step(number: int) -> StepId:
    """The name of a numbered input, which no step has."""
    return -(1 << 41) - number


def _as_run(branch: Step) -> Term:
    """That a branch goes as it went."""
    guard = Read(branch.id, BOOL, "", branch.value)
    return guard if branch.value else Apply(Op.NOT, (guard,), BOOL)


def _unrecorded_step(step: StepId) -> StepId:
    """A name that no step has: what was not recorded."""
    return -(1 << 40) - step


def _statement(step: Step) -> Statement:
    return Statement(step.given or step.location, step.kind is StepKind.BRANCH)
