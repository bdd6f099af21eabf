"""Algorithm 3 on Fig. 5 and around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from in_process_solver import InProcess
from paper_examples import critical_example, running_example
from recorded import SAME, Recorded, aligned, compare, op

from afterd.causality.critical_predicates import Critical, extract_critical_predicates
from afterd.causality.semantic import semantic_analysis
from afterd.logic.evaluation import evaluate
from afterd.logic.solver import Solver
from afterd.model.term import Op
from afterd.model.trace import Alignment, Predicate


def _critical(run: Recorded, predicate: Predicate | None = None) -> list[Critical]:
    core = Solver(worker=InProcess()).core
    cause = semantic_analysis(run, predicate or run.failed[0], core)
    return extract_critical_predicates(run, cause)


def test_direct_and_indirect_influence() -> None:
    """Fig. 5: line 2 decides that line 6 runs, line 3 that c could have been redefined."""
    found = _critical(critical_example())
    assert [(c.branch.id, c.direct) for c in found] == [(30, False), (20, True)]


def test_a_branch_that_was_not_executed_never_counts() -> None:
    """Line 4 would have redefined c, but the run never came there: there is no step for it."""
    assert 40 not in critical_example().steps
    assert all(c.branch.id != 40 for c in _critical(critical_example()))


def test_the_running_example_has_two() -> None:
    assert [c.branch.id for c in _critical(running_example())] == [90, 50]


def test_upstream_of_the_second_cause() -> None:
    run = running_example()
    second = next(c for c in _critical(run) if c.branch.id == 50)
    assert [c.branch.id for c in _critical(run, second.predicate)] == [40]


@pytest.mark.parametrize("make", [running_example, critical_example])
def test_every_critical_predicate_is_false_in_the_run(make: Callable[[], Recorded]) -> None:
    run = make()
    found = _critical(run)
    assert found
    assert all(evaluate(c.predicate.condition) is False for c in found)


def test_nothing_that_decided_a_clean_step_matters() -> None:
    run = Recorded()
    x = run.input(1, "x", 5)
    outer = run.branch(2, compare(Op.GT, x, 0))
    clean = run.assign(3, "y", op(Op.ADD, x, 1), green=6, control=outer)
    wrong = run.assign(4, "z", op(Op.MUL, clean, 2), green=18, changes=["c1"])
    run.fail(9, compare(Op.EQ, wrong, 18))
    assert [c.branch.id for c in _critical(run)] == [2]  # nobody said that 6 was 6 in green
    assert _critical(aligned(run)) == []


@pytest.mark.parametrize("same", [True, False])
def test_a_new_condition_over_what_green_had_as_well_is_not_asked(*, same: bool) -> None:
    """md4c: an option that is new stands over all that a file's bytes are made of, and they are as ever."""
    run = Recorded()
    option = run.input(1, "option", 0)
    new = run.branch(2, compare(Op.EQ, option, 0), green=Alignment.ABSENT, changes=["c1"])
    stream = run.assign(3, "stream", 5, green=SAME if same else 4, control=new)
    run.steps[3] = replace(run.steps[3], value=None)  # an object: of these nothing is settled
    wrong = run.assign(4, "byte", op(Op.MUL, stream, 2), green=18)
    run.fail(9, compare(Op.EQ, wrong, 18))
    assert [c.branch.id for c in _critical(run)] == ([] if same else [2])


def test_a_path_condition_in_the_core_is_asked_for_its_own_reasons() -> None:
    run = Recorded()
    x = run.assign(1, "x", 9, changes=["c1"])
    inside = run.branch(2, compare(Op.GT, x, 5))
    run.fail(3, compare(Op.LT, x, 5), control=inside)
    (found,) = _critical(run)
    assert (found.branch.id, found.direct) == (2, True)


@pytest.mark.parametrize("others", [1, 12])
def test_where_green_went_another_way_is_asked_over_many_branches(others: int) -> None:
    """Of libsass: a dozen ``else if`` that green never came to, for it had taken the first."""
    run = Recorded()
    x = run.assign(1, "x", 9, green=3, changes=["c1"])
    above = run.branch(2, compare(Op.GT, x, 5), green=False)
    for step in range(3, 3 + others):
        condition = compare(Op.LT, x, 100 + step)
        above = run.branch(step, condition, green=Alignment.ABSENT, control=above)
    end = 3 + others
    wrong = run.assign(end, "y", 7, green=Alignment.ABSENT, control=above)
    run.fail(end + 1, compare(Op.EQ, wrong, 8))
    asked = [c.branch.id for c in _critical(run)]
    assert asked == ([above] if others == 1 else [above, 2])


@pytest.mark.parametrize("others", [1, 12])
def test_a_condition_that_is_new_is_asked_over_many_branches(others: int) -> None:
    """Of OpenVPN: an option takes no second argument any more, and all the options behind it are not that one."""
    run = Recorded()
    x = run.assign(1, "x", 9, green=9)
    same = run.branch(2, compare(Op.GT, x, 5), green=Alignment.SAME)
    above = new = run.branch(
        3, compare(Op.LT, x, 7), green=Alignment.ABSENT, control=same, changes=["c1"]
    )
    for step in range(4, 4 + others):
        condition = compare(Op.LT, x, 100 + step)
        above = run.branch(step, condition, green=Alignment.ABSENT, control=above)
    end = 4 + others
    wrong = run.assign(end, "y", 7, green=Alignment.ABSENT, control=above)
    run.fail(end + 1, compare(Op.EQ, wrong, 8))
    asked = [c.branch.id for c in _critical(run)]
    assert asked == ([above] if others == 1 else [above, new])
