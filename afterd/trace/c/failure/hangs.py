"""A run that was ended because it did not end: the condition of its loop should have become false.

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
from afterd.model.term import StepId
from afterd.trace.c.failure.failed import Failed, call_at, other_way
from afterd.trace.c.read.process import Process


def hang(process: Process) -> Iterator[Failed]:
    """The failed assertion of a process that was ended in a loop, or while it waited."""
    rounds: dict[Hashable, list[StepId]] = defaultdict(list)
    for branch in islice(_branches_above(process), TraceLimits().rounds):
        rounds[_branch(process, branch)].append(branch)
    if rounds:
        newest = max(rounds.values(), key=len)[0]
        at = _place(process)
        message = f"it does not end; it was at {at} when it was ended"
        yield Failed(FailureKind.HANG, newest, other_way(process, newest), message, at)


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
