"""The causes level by level: the paper's, and which predicate comes before which."""

from __future__ import annotations

import pytest
from in_process_solver import InProcess
from paper_examples import critical_example, running_example
from recorded import Recorded, aligned, compare, op, without_green

from afterd.causality.causes import Causes
from afterd.causality.infection import Green
from afterd.causality.worth import Worth
from afterd.logic.solver import Solver
from afterd.model.explanation import Evidence
from afterd.model.progress import Silent
from afterd.model.term import Op


def causes_of(run: Recorded, *, most: int = 50, spent: int = 0) -> Causes:
    """No level is open yet."""
    core = Solver(worker=InProcess()).core
    return Causes(run, core, Silent(), Green(run), most, worth=Worth(lambda: spent))


def levels(causes: Causes) -> list[list[int]]:
    """The predicates' steps that each further level explains, until none is left."""
    found: list[list[int]] = []
    while True:
        before = len(causes.links)
        if not causes.open_level():
            return found
        found.append([link.cause.predicate.step for link in causes.links[before:]])


def test_the_running_example_level_by_level() -> None:
    """Figs. 7 and 8: the assertion, line 5's branch, line 4's branch."""
    causes = causes_of(running_example())
    found = levels(causes)
    assert found[0] == [130]
    assert found[1][0] == 50
    assert 40 in {step for level in found for step in level}
    acting = causes.acting()
    assert {change for changes in acting.values() for change in changes} >= {"c1", "c2", "c3"}
    assert causes.links[0].parent is None
    assert causes.links[1].parent == 0


def test_a_branch_that_was_not_taken_is_a_cause_by_what_it_did_not_overwrite() -> None:
    """Fig. 5: line 3 is a critical predicate of line 6's use of c, indirectly."""
    causes = causes_of(critical_example())
    levels(causes)
    by_step = {link.cause.predicate.step: link for link in causes.links}
    assert {90, 20, 30} <= by_step.keys()
    assert by_step[30].evidence is Evidence.INFERRED


def two_branches(parted: int) -> Recorded:
    """Branches 2 and 4 decide a summand each; at one of them green went the other way."""
    run = Recorded()
    x = run.input(1, "x", 5)
    summands = []
    for branch in (2, 4):
        other = branch == parted
        taken = run.branch(branch, compare(Op.GT, x, branch), green=not other)
        green = 7 if other else 2
        summands.append(run.assign(branch + 1, f"v{branch}", 2, green=green, control=taken))
    run.fail(9, compare(Op.EQ, op(Op.ADD, *summands), 9))
    return aligned(run)


@pytest.mark.parametrize("parted", [2, 4])
def test_where_green_went_another_way_is_explained_first(parted: int) -> None:
    found = [step for level in levels(causes_of(two_branches(parted))) for step in level]
    assert found[:2] == [9, parted]


@pytest.mark.parametrize(("most", "links"), [(1, 1), (2, 2), (50, 3)])
def test_no_more_causes_are_sought_than_is_allowed(most: int, links: int) -> None:
    causes = causes_of(without_green(critical_example()), most=most)
    levels(causes)
    assert len(causes.links) == links


def test_once_evidence_has_cost_all_that_runs_would_only_the_failure_is_explained() -> None:
    causes = causes_of(running_example(), spent=10**12)
    assert levels(causes) == [[130]]


def test_a_run_without_a_failure_has_no_causes() -> None:
    causes = causes_of(Recorded())
    assert causes.failure is None
    assert levels(causes) == []
    assert causes.slice_changes() == []
    assert not causes.promising


def test_changes_of_the_slice_are_told_nearest_first() -> None:
    assert causes_of(running_example()).slice_changes()[:2] == ["c3", "c2"]


def test_what_is_infected_is_explained_when_its_origin_is_among_the_causes() -> None:
    causes = causes_of(running_example())
    causes.open_level()
    assert not causes.explained(), "line 7 was not executed in green, and nothing says why"
    while causes.open_level():
        continue
    assert causes.explained()
