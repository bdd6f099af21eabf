"""Of two causes each has a twin of its own: a step is the branch of the one that alone alters it."""

from __future__ import annotations

import pytest
from in_process_solver import InProcess
from made_changes import change
from recorded import ABSENT, SAME, Recorded, aligned, compare, op

from afterd.causality.story import Story, story
from afterd.limits import STORY, StoryLimits
from afterd.logic.solver import Solver
from afterd.model.change import ChangeId
from afterd.model.term import Op
from afterd.model.trace import Alignment, TwinExecution

Green = int | bool | Alignment


def _run(first: Green, second: Green, joined: Green) -> Recorded:
    """``a = 1`` (c1) handed on as ``b``, ``x = 2`` (c2) handed on as ``y``; ``sum = b + y`` must be 13."""
    run = Recorded()
    a = run.assign(10, "a", 1, green=first, changes=["c1"])
    b = run.assign(20, "b", op(Op.ADD, a, 0), green=first)
    x = run.assign(30, "x", 2, green=second, changes=["c2"])
    y = run.assign(40, "y", op(Op.ADD, x, 0), green=second)
    total = run.assign(50, "sum", op(Op.ADD, b, y), green=joined)
    run.fail(60, compare(Op.EQ, total, 13))
    return aligned(run)


BOTH = _run(6, 7, 13)
ALONE: dict[ChangeId, TwinExecution | None] = {"c1": _run(6, 2, 8), "c2": _run(1, 7, 8)}


def _told(alone: dict[ChangeId, TwinExecution | None], limits: StoryLimits = STORY) -> Story:
    changes = {each: change(int(each[1:]), "f.c") for each in ("c1", "c2")}
    with Solver(worker=InProcess()) as solver:
        found = story(BOTH, frozenset(changes), changes, solver.core, limits, alone.get)
    assert found is not None
    return found


def _whose(found: Story) -> dict[int, str]:
    return {step.line: step.whose for node in found.tree.nodes() for step in node.steps}


def test_what_one_cause_alone_alters_is_its_branch() -> None:
    """The sum is altered by either: it is nobody's. Where a change acts is told by the change."""
    found = _told(ALONE)
    assert _whose(found) == {10: "", 20: "c1", 30: "", 40: "c2", 50: ""}
    assert {step.change for node in found.tree.nodes() for step in node.steps} == {"", "c1", "c2"}


@pytest.mark.parametrize(
    ("other", "claimed"),
    [
        (None, ""),
        (_run(1, 7, 8), "c1"),
        (_run(Alignment.UNKNOWN, 7, 8), ""),
        (_run(ABSENT, 7, 8), ""),
        (_run(SAME, 7, 8), "c1"),
    ],
    ids=["leaves no trace", "as it fails", "says nothing", "does not run", "the same"],
)
def test_only_where_every_twin_tells(other: TwinExecution | None, claimed: str) -> None:
    assert _whose(_told({**ALONE, "c2": other}))[20] == claimed


def test_an_id_that_is_another_step_there_says_nothing() -> None:
    """What memory began with is numbered as it is asked for."""
    other = _run(6, 2, 8)
    other.steps[20] = other.steps[40]
    assert _whose(_told({**ALONE, "c1": other}))[20] == ""
    del other.steps[20]
    assert _whose(_told({**ALONE, "c1": other}))[20] == ""


def _asked(both: Recorded, most: int = STORY.alone, *silent: ChangeId) -> list[ChangeId]:
    """Of which causes a twin is recorded; those that are ``silent`` leave no trace."""
    asked: list[ChangeId] = []

    def alone(change: ChangeId) -> TwinExecution | None:
        asked.append(change)
        return None if change in silent else ALONE[change]

    changes = {each: change(int(each[1:]), "f.c") for each in ("c1", "c2")}
    with Solver(worker=InProcess()) as solver:
        story(both, frozenset(changes), changes, solver.core, StoryLimits(alone=most), alone)
    return asked


def test_no_twin_is_recorded_where_all_ways_are_one() -> None:
    """The second change acts on what the first made: what follows is altered by both, and the text says where
    they act.
    """
    run = Recorded()
    a = run.assign(10, "a", 1, green=6, changes=["c1"])
    b = run.assign(20, "b", op(Op.ADD, a, 2), green=13, changes=["c2"])
    run.assign(30, "c", op(Op.ADD, b, 0), green=13)
    run.fail(60, compare(Op.EQ, b, 13))
    assert _asked(aligned(run)) == []


def test_a_twin_that_tells_nothing_is_the_last() -> None:
    assert _asked(BOTH, STORY.alone, "c1") == ["c1"]


def test_no_more_twins_than_causes_are_allowed() -> None:
    assert _asked(BOTH, 1) == []
    assert _asked(BOTH, 2) == ["c1", "c2"]
