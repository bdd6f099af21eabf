"""A run that was ended because it did not end: the condition of its loop should have become false, or the call
that it waited in should have come back.

Each execution of a loop's condition is controlled by the one before, up to that of the loop around it:
from the last record back along control dependence, every loop around it shows as often as it went round.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from itertools import islice

from afterd.limits import TraceLimits
from afterd.model.location import Location
from afterd.model.outcome import FailureKind
from afterd.model.term import StepId, Term
from afterd.trace.c.failure.failed import NEVER, Failed, another_value, call_at, other_way
from afterd.trace.c.ir.recorded import arguments
from afterd.trace.c.read.process import Process


def hang(process: Process) -> Iterator[Failed]:
    """The failed assertion of a process that was ended: the loop around where it was, if there is one."""
    rounds: dict[Hashable, list[StepId]] = defaultdict(list)
    for branch in islice(_branches_above(process), TraceLimits().rounds):
        rounds[_branch(process, branch)].append(branch)
    if rounds:
        newest = max(rounds.values(), key=len)[0]
        yield _ended(newest, other_way(process, newest), _place(process))


def waiting(process: Process) -> Iterator[Failed]:
    """Of a process that made no more records: it should not have made its last call with what it gave it."""
    call = None if process.recording.stopped else call_at(process, process.recording.end - 1)
    if call is None:
        return
    given = (
        process.values.operand(kind, text, call.instance, call.index)
        for kind, text in arguments(call.instruction)
    )
    others = [other for term in given if (other := another_value(term)) is not None]
    for condition in others or [NEVER]:
        yield _ended(process.ids.of(call.position), condition, call.location)


def _ended(step: StepId, condition: Term, at: Location) -> Failed:
    message = f"it does not end; it was at {at} when it was ended"
    return Failed(FailureKind.HANG, step, condition, message, at)


def _branches_above(process: Process) -> Iterator[StepId]:
    """The branches that kept the process where it was, the nearest first."""
    branch = process.statements.control_of(process.frames.instance(process.recording.end - 1))
    while branch is not None:
        yield branch
        branch = process.statements.control(branch)


def _branch(process: Process, step: StepId) -> Hashable:
    """What all executions of a branch have in common."""
    statement = process.statements.statement(step)
    instance = statement.instance
    return (instance.view.name, instance.block) if instance else statement.location


def _place(process: Process) -> Location:
    """Where the process was: at the call that did not come back, or in the last block that it entered."""
    last = process.recording.end - 1
    call = call_at(process, last)
    if call is not None:
        return call.location
    instance = process.frames.instance(last)
    assert instance is not None, "asked for where there is one"
    return instance.view.place(instance.block, 0)
