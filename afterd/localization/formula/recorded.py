"""A recorded failing run as a subject, in any language that is traced: its terms are the formula.

Nothing is executed again, so there is one path: where a branch goes the other way, what it
controlled, and what its other side could have redefined, is free (CONBAS's control statements).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from afterd.logic.program_formula import (
    Branch,
    Definition,
    ProgramFormula,
    Statement,
    TooLargeError,
    Violated,
)
from afterd.logic.terms import distinct_reads
from afterd.model.term import BOOL, Apply, Const, Op, Read, SortKind, StepId, Term
from afterd.model.trace import Execution, Predicate, Step, StepKind

STEPS = 3000


@dataclass(slots=True)
class RecordedRun:
    """One failed assertion of a recorded execution. ``steps`` bounds how far back terms are kept."""

    execution: Execution
    predicate: Predicate
    steps: int = STEPS

    def trace(self) -> ProgramFormula:
        """What the run computed on the way to the assertion. Raises TooLargeError without terms."""
        found, branches = self._behind()
        definitions: list[Definition] = []
        for identifier in sorted(found):
            definitions += self._defined(found[identifier], branches.get(identifier, ()))
        if not definitions:
            raise TooLargeError("the recording has no terms")
        inputs = tuple(
            Definition(s.id, Const(s.value, s.term.sort))
            for s in found.values()
            if s.kind is StepKind.INITIAL
        )
        executed = tuple({_statement(step): None for step in found.values()})
        goal = Violated(self.predicate.text, self.predicate.condition)
        return ProgramFormula(tuple(definitions), inputs, (), (goal,), executed=executed)

    def on_demand(self, explored: Collection[Branch]) -> ProgramFormula:
        """The same: other sides were not recorded."""
        del explored
        return self.trace()

    def all_paths(self) -> ProgramFormula:
        """A recording has one path."""
        raise TooLargeError("only the path that was run is recorded")

    def narrow(self) -> bool:
        """Look back over half as many steps."""
        self.steps //= 2
        return self.steps > 50

    def _behind(self) -> tuple[dict[StepId, Step], dict[StepId, tuple[StepId, ...]]]:
        """The steps that the assertion depends on, latest first; per step the branches it rests on."""
        found: dict[StepId, Step] = {}
        branches: dict[StepId, tuple[StepId, ...]] = {}
        waiting = {read.step for read in distinct_reads(self.predicate.condition)}
        while waiting and len(found) < self.steps:
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
            return []
        own, sort = -step.id - 1, step.term.sort
        made: Term = Read(own, sort, step.target, step.value)
        for branch in rests:
            taken = self.execution.step(branch)
            guard = Read(branch, BOOL, "", taken.value)
            as_run = guard if taken.value else Apply(Op.NOT, (guard,), BOOL)
            free = Read(_elsewhere(step.id), sort, "", step.value)
            made = Apply(Op.ITE, (as_run, made, free), sort)
        soft = Definition(own, _term(step), _statement(step))
        return [soft, Definition(step.id, made)]


def _term(step: Step) -> Term:
    """The step's term; an opaque one is the value it had."""
    if step.term.sort.kind is SortKind.OPAQUE:
        return Const(step.value, step.term.sort)
    return step.term


def _elsewhere(step: StepId) -> StepId:
    """A name that no step has: what was not recorded."""
    return -(1 << 40) - step


def _statement(step: Step) -> Statement:
    return Statement(step.location, step.kind is StepKind.BRANCH)
