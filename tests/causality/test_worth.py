"""Evidence is sought while it costs less than the runs that it saves."""

from __future__ import annotations

from math import log10

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.causality.standing import Standing
from afterd.causality.worth import Worth, counted_questions, run_work
from afterd.limits import WORK

SECOND = WORK.second


@pytest.mark.parametrize(
    ("spent", "run", "changes", "allowed"),
    [
        (0, SECOND, 1, True),
        (4 * SECOND, SECOND, 1, True),  # 2 log2 2 + 3 runs of a second
        (6 * SECOND, SECOND, 1, False),
        (6 * SECOND, SECOND, 1000, True),  # more to choose from: more runs without evidence
        (60 * SECOND, SECOND, 1000, False),
        (60 * SECOND, 8 * SECOND, 1000, True),  # dearer runs
        (SECOND, SECOND // 16, 1, True),  # however quick the test: a story is wanted
    ],
)
def test_evidence_may_cost_what_a_search_without_it_costs(
    spent: int, run: int, changes: int, allowed: bool
) -> None:
    assert Worth(lambda: spent, run, changes).allows() is allowed


def test_a_dear_level_of_causes_waits_for_cheap_runs() -> None:
    assert Worth(run=SECOND).beats_running(2 * SECOND)
    assert not Worth(run=SECOND // 4).beats_running(2 * SECOND)


@given(st.floats(0.0, 1000.0), st.floats(0.8, 1.2))
def test_a_run_costs_the_same_whenever_it_is_measured(cpu: float, noise: float) -> None:
    one, other = sorted([run_work(cpu), run_work(cpu * noise)])
    assert other <= 10 * one
    near_a_step = (
        abs(log10(max(cpu, 0.25) / 0.25) % 1 - 0.5) < 0.1
    )  # 0.6 to 1.0, 6 to 10, … seconds
    assert one == other or near_a_step


@pytest.mark.parametrize(
    ("cpu", "seconds"),
    [(0.0, 0.25), (0.15, 0.25), (0.2, 0.25), (0.6, 0.25), (1.2, 2.5), (7.0, 2.5), (60.0, 25.0)],
)
def test_quick_runs_cost_a_quarter_of_a_second(cpu: float, seconds: float) -> None:
    assert run_work(cpu) == int(seconds * SECOND)


def test_questions_are_counted() -> None:
    standing = counted_questions(Standing(lambda reverted: "".join(sorted(reverted))), 5)
    answers = [standing.against(frozenset({"c2", "c1"})), standing.against(frozenset())]
    assert answers == ["c1c2", ""]
    assert standing.work() == 10
