"""Whose branch a step of the story is on, where several changes are guilty.

The *twin of one cause alone* is the bad version with only that change undone. It still fails, and differs from
the failing run by that change alone: a step that is another one there is a consequence of it. A step
that one twin has otherwise, and every other twin has as the failing run, is that one change's. Of a step that
several alter, or of which one of the twins says nothing, nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from afterd.causality.infection import is_clean, is_infected
from afterd.model.change import ChangeId, ChangeSet, in_order
from afterd.model.trace import Step, TwinExecution

Alone = Callable[[ChangeId], TwinExecution | None]
"""The failing run beside the bad version with one change undone; None where that leaves no trace."""


def no_twin_alone(_change: ChangeId) -> None:
    """Nothing is recorded."""


def twins_alone(root: ChangeSet, alone: Alone) -> Mapping[ChangeId, TwinExecution]:
    """The twin of each cause alone; none at all where one leaves no trace, as the others then tell nothing."""
    found: dict[ChangeId, TwinExecution] = {}
    for change in in_order(root):
        twin = alone(change)
        if twin is None:
            return {}
        found[change] = twin
    return found


def branch_of(step: Step, twins: Mapping[ChangeId, TwinExecution]) -> ChangeId:
    """The change that alone alters a step; empty where that is none, several, or not known."""
    there = {change: _same_step(step, twin) for change, twin in twins.items()}
    alters = [change for change, other in there.items() if other is not None and is_infected(other)]
    known = all(
        other is not None and (is_infected(other) or is_clean(other)) for other in there.values()
    )
    return alters[0] if known and len(alters) == 1 else ""


def _same_step(step: Step, twin: TwinExecution) -> Step | None:
    """The step as another pair of runs has it: an id is that of a record, but what memory began with is
    numbered as it is asked for.
    """
    try:
        found = twin.step(step.id)
    except (KeyError, IndexError):
        return None
    same = (found.location, found.text, found.rendered) == (step.location, step.text, step.rendered)
    return found if same else None
