"""The causes level by level: the paper's, and which predicate comes before which."""

from __future__ import annotations

from dataclasses import replace

import pytest
from in_process_solver import InProcess
from paper_examples import critical_example, running_example
from recorded import Recorded, aligned, compare, op, without_green

from afterd.causality.causes import Causes
from afterd.causality.infection import Green
from afterd.causality.suspicion import Tier, suspects_of
from afterd.causality.tree import causal_tree
from afterd.causality.worth import Worth
from afterd.logic.solver import Solver
from afterd.model.explanation import Evidence
from afterd.model.progress import Silent
from afterd.model.term import Op
from afterd.model.trace import Alignment, GreenValue, StepKind


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


def test_where_the_runs_parted_comes_before_what_only_one_came_to() -> None:
    """cmark: a renderer's buffer grew in forty rounds that green never came to; that a mark was taken for one that
    opens, three levels up, was where they parted.
    """
    run = Recorded()
    mark = run.assign(1, "mark", 7, green=6, changes=["c1"])
    parted = run.branch(2, compare(Op.GT, mark, 6), green=False)
    kind = run.assign(3, "kind", 2, green=1, control=parted)
    entered = run.branch(4, compare(Op.EQ, kind, 2), green=False)
    size = run.assign(5, "size", 40, green=Alignment.ABSENT, control=entered)
    grown = run.branch(6, compare(Op.GT, size, 32), green=Alignment.ABSENT, control=entered)
    byte = run.assign(7, "byte", op(Op.ADD, size, 20), green=Alignment.ABSENT, control=grown)
    shown = run.assign(8, "shown", op(Op.ADD, byte, kind), green=96, control=entered)
    run.fail(9, compare(Op.EQ, shown, 96), control=entered)
    found = [step for level in levels(causes_of(aligned(run))) for step in level]
    assert found == [9, 4, 2, 6]


def test_a_round_in_which_green_went_on_is_explained_behind_many_that_were_alike() -> None:
    """curl: a hash table's later buckets were empty in both runs; before them green had a cookie more."""
    run = Recorded()
    x = run.input(1, "x", 5)
    listed = run.assign(2, "listed", 0, green=7)
    rounds = range(10, 18)
    for at in rounds:
        run.branch(at, compare(Op.GT, x, 9), green=at == rounds[0], line=10)
    run.fail(99, compare(Op.EQ, listed, 7))
    run.influences[99, 2] = [*reversed(rounds)]
    found = [step for level in levels(causes_of(aligned(run))) for step in level]
    assert found[:2] == [99, rounds[0]]


def test_what_nobody_wrote_is_not_explained_before_the_branch_that_green_took() -> None:
    """django-tables2: `table.paginator` was missing, as nobody asked for pages. The function that sets it was changed
    too, and the classes of the table were read from infected ones.
    """
    run = Recorded()
    wanted = run.input(1, "wanted", 0)
    asked = run.assign(2, "asked", wanted, green=1, changes=["c1"])
    table = run.assign(3, "table", 5, green=Alignment.SAME)
    run.branch(4, compare(Op.NE, asked, 0), green=True)
    for decided in (5, 6):
        run.branch(decided, compare(Op.NE, wanted, decided), green=Alignment.SAME)
    run.fail(9, compare(Op.EQ, table, 7))
    run.steps[9] = replace(run.steps[9], green=GreenValue(Alignment.DIFFERENT, value=True))
    run.influences[9, 3] = [6, 5, 4]
    run.absent[9] = ("c2",)
    causes = causes_of(aligned(run))
    assert causes.open_level()
    assert not causes.explained()
    assert causes.promising
    assert causes.open_level()
    assert causes.links[1].cause.predicate.step == 4
    assert causes.explained()


@pytest.mark.parametrize(("most", "links"), [(1, 1), (2, 2), (50, 3)])
def test_no_more_causes_are_sought_than_is_allowed(most: int, links: int) -> None:
    causes = causes_of(without_green(critical_example()), most=most)
    levels(causes)
    assert len(causes.links) == links


def test_once_evidence_has_cost_all_that_runs_would_only_the_failure_is_explained() -> None:
    causes = causes_of(running_example(), spent=10**12)
    assert levels(causes) == [[130]]


def test_what_other_evidence_costs_between_levels_is_not_the_causes() -> None:
    run = running_example()
    spent = [0]
    worth = Worth(lambda: spent[0])
    core = Solver(worker=InProcess()).core
    causes = Causes(run, core, Silent(), Green(run), worth=worth)
    assert causes.open_level()
    spent[0] = 10**12
    assert causes.open_level()


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


def summed_from_a_table(run: Recorded, times: int, *, length: int = 1) -> Recorded:
    """``times`` elements of a table are added to 5 and compared with 0; green had -3 in the table, and this
    run -2, ``length`` copies before it is read.
    """
    element = run.assign(
        1, "table", -2, green=-3, kind=StepKind.INITIAL, changes=["c_table"], line=1
    )
    for copy in range(length - 1):
        element = run.assign(2 + copy, f"copy{copy}", element, green=-3)
    total = op(Op.ADD, 5, op(Op.MUL, element, times))
    run.fail(100, compare(Op.EQ, run.assign(90, "total", total, green=5 - 3 * times), 0))
    return aligned(run)


@pytest.mark.parametrize(
    ("times", "core"),
    [(3, False), (5, True)],
    ids=["5 + 3 x is never 0", "5 + 5 x is 0 for another x"],
)
@pytest.mark.parametrize("length", [1, 7])
def test_what_fills_a_table_is_met_where_the_core_needs_no_element(
    times: int, length: int, *, core: bool
) -> None:
    """Brindle's assertion: three of five instructions were in the slice, and arithmetic alone forced that
    their effects are not 5: the table was in no core, and the search took 17 runs.
    """
    run = summed_from_a_table(Recorded(), times, length=length)
    causes = causes_of(run)
    causes.open_level()
    (link,) = causes.links
    assert (1 in {step.id for step in link.cause.steps}) is core
    assert (1 in {step.id for step in link.cause.origins}) is not core
    (found, *_) = suspects_of(run, Green(run), causes.links)
    tier = Tier.ENTRY if core else Tier.CARRIER
    assert (found.change, found.tier, found.step) == ("c_table", tier, 1)
    assert causes.explained()
    tree = causal_tree(causes.links, frozenset(["c_table"]), causes.acting())
    assert tree is not None
    assert "c_table" in {step.change for step in tree.steps}


def test_what_is_as_in_green_is_no_origin() -> None:
    run = Recorded()
    even = run.assign(1, "even", 4, green=Alignment.SAME)
    run.fail(9, compare(Op.EQ, run.assign(2, "odd", op(Op.ADD, even, 1), green=4), 4))
    causes = causes_of(run)
    causes.open_level()
    assert causes.links[0].cause.origins == ()
