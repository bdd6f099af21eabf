"""Whose branch a step of the story is on, where several changes are guilty.

The *twin of one cause alone* is the bad version with only that change undone. It still fails, and differs from
the failing run by that change alone: a step that is another one there is a consequence of it. A step
that one twin has otherwise, and every other twin has as the failing run, is that one change's. Of a step that
several alter, or of which one of the twins says nothing, nothing is claimed. A step that the ways of several causes
go through is altered by each of them, and no twin is recorded for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from afterd.causality.infection import is_clean, is_infected
from afterd.model.change import ChangeId, ChangeSet, in_order
from afterd.model.term import StepId
from afterd.model.trace import Step, TwinExecution

Alone = Callable[[ChangeId], TwinExecution | None]
"""The failing run beside the bad version with one change undone; None where that leaves no trace."""


def no_twin_alone(_change: ChangeId) -> None:
    """Nothing is recorded."""


def branches(steps: Collection[Step], root: ChangeSet, alone: Alone) -> Mapping[StepId, ChangeId]:
    """By step, the change that alone alters it; steps that several alter, that none does, or of which a twin says
    nothing are not in it. Nothing at all where one twin leaves no trace. A twin is recorded as long as there is a step
    of which it can tell.
    """
    waiting = list(steps)
    found: dict[StepId, ChangeId] = {}
    for change in in_order(root):
        twin = alone(change) if waiting else None
        if twin is None:
            return {}
        there = [(step, _same_step(step, twin)) for step in waiting]
        altered = {step.id for step, other in there if other is not None and is_infected(other)}
        waiting = [
            step
            for step, other in there
            if (step.id in altered and step.id not in found)
            or (other is not None and is_clean(other))
        ]
        found.update(dict.fromkeys(altered - found.keys(), change))
    return {step.id: found[step.id] for step in waiting if step.id in found}


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
