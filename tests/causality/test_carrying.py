"""Where a failure is carried: a path is halved, and only what was seen is claimed."""

from __future__ import annotations

from math import ceil, log2

from hypothesis import given
from hypothesis import strategies as st
from recorded import Recorded

from afterd.causality.carrying import Carrying
from afterd.limits import STORY
from afterd.model.term import INT, Concrete
from afterd.model.trace import Alignment, Trial


def _path(length: int, carried: int, dumb: frozenset[int] = frozenset()) -> Recorded:
    """Steps 1 to ``length``; from ``carried`` on each carries the failure, ``dumb`` ones cannot be set."""
    run = Recorded()
    for number in range(1, length + 1):
        run.assign(number, "x", Concrete(number, INT, "made"), green=0)
        if number not in dumb:
            run.trials[number] = Trial.PASSES if number >= carried else Trial.FAILS
    return run


@given(st.data())
def test_a_path_is_halved(data: st.DataObject) -> None:
    """The first step that carries the failure is found, in as many runs as halving takes and one."""
    length = data.draw(st.integers(1, 200))
    carried = data.draw(st.integers(1, length + 1))
    carrying = Carrying(_path(length, carried), length)
    carrying.follow(range(1, length + 1))
    assert min(carrying.carriers, default=length + 1) == carried
    assert carrying.runs <= ceil(log2(length + 1)) + 1


def test_a_hundred_steps_are_within_the_budget() -> None:
    """Seven runs, and one of the change itself."""
    carrying = Carrying(_path(100, 37), STORY.interventions)
    carrying.follow(range(1, 101))
    assert min(carrying.carriers) == 37
    assert carrying.runs == STORY.interventions


def test_what_cannot_be_set_costs_no_run() -> None:
    """The nearest step that can be is tested in its place; nothing is said of the others."""
    dumb = frozenset(range(2, 20))
    carrying = Carrying(_path(20, 1, dumb), 8)
    carrying.follow(range(1, 21))
    assert carrying.carriers == {1, 20}
    assert carrying.runs == 2


def test_nothing_is_run_past_the_budget() -> None:
    """Also not where the change acts."""
    carrying = Carrying(_path(50, 50), 3)
    carrying.follow(range(1, 51))
    assert carrying.runs == 3


def test_a_run_that_went_elsewhere_steers_nothing() -> None:
    """The step is passed over; what lies on both sides of it is still asked."""
    run = _path(3, 1)
    run.trials[2] = Trial.ELSEWHERE
    carrying = Carrying(run, 8)
    carrying.follow([1, 2, 3])
    assert carrying.carriers == {1}
    assert carrying.runs == 2


def test_what_is_the_same_in_both_runs_is_not_set() -> None:
    """There is nothing else to put there."""
    run = Recorded()
    run.assign(1, "x", Concrete(5, INT, "made"), green=Alignment.SAME)
    run.trials[1] = Trial.PASSES
    carrying = Carrying(run, 8)
    carrying.follow([1])
    assert not carrying.carriers
    assert not carrying.runs
