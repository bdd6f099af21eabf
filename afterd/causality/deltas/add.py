"""Augmented delta debugging: coverage first, then files, functions and single changes.

After Yu, Lin, Chen, Zhang, "Practical isolation of failure-inducing changes for debugging
regression faults" (ASE 2012), which AFTER compares itself with as ADD: changes that the failing run
does not execute are set aside first, and the rest is isolated hierarchically, so that a whole file
is settled with one run. Changes that were executed late come last, where ``dd`` looks first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from afterd.causality.deltas.dd import Isolation, Unit, isolate
from afterd.causality.deltas.dependencies import (
    Changes,
    by_file,
    by_function,
    one_by_one,
    structural_order,
)
from afterd.causality.deltas.tested import SpentError, Tested
from afterd.model.change import NOTHING, ChangeId, ChangeSet
from afterd.model.outcome import Outcome, Verdict


def add(
    changes: Changes,
    executed: Sequence[ChangeId],
    outcome: Callable[[ChangeSet], Outcome],
) -> Isolation:
    """The minimal difference between the good version and the bad one, coverage first.

    ``executed`` are the changes with a statement in the failing run, last executed first. At most
    one outcome more is asked for than by three runs of ``dd``: on files, functions and changes.
    """
    whole = frozenset(changes)
    tested = Tested(outcome, {NOTHING: Verdict.FAIL, whole: Verdict.PASS})
    passing = NOTHING
    ordered = _ordered_changes(changes, executed)
    try:
        idle = whole - frozenset(executed)
        if idle and tested(whole - idle) is Verdict.PASS:
            passing, ordered = idle, [change for change in ordered if change not in idle]
    except SpentError:
        return Isolation(passing, whole, tested.calls, complete=False)
    return _levels(changes, ordered, tested, passing)


def _levels(
    changes: Changes, ordered: list[ChangeId], tested: Tested, passing: ChangeSet
) -> Isolation:
    """``dd`` on files, then on the functions and then the changes of what is left."""
    found = Isolation(passing, passing.union(ordered), tested.calls)
    levels: list[Callable[[list[ChangeId]], list[Unit]]] = [
        lambda left: by_file(left, changes),
        lambda left: by_function(left, changes),
        one_by_one,
    ]
    for split in levels:
        left = [change for change in ordered if change in found.difference]
        found = isolate(split(left), tested, found.passing, frozenset(changes))
        if not found.complete:
            break
    return found


def _ordered_changes(changes: Changes, executed: Sequence[ChangeId]) -> list[ChangeId]:
    """Changes that were not executed, by place; then those that were, the last executed last."""
    known = dict.fromkeys(change for change in executed if change in changes)
    idle = [change for change in structural_order(changes.values()) if change not in known]
    return [*idle, *reversed(known)]
