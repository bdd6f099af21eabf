"""Predictions: sure where the terms tell, guesses where they nearly do, else nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from in_process_solver import InProcess
from paper_examples import running_example
from recorded import ABSENT, SAME, Recorded, aligned, compare, op

from afterd.causality.cause import Link
from afterd.causality.counterfactual import Counterfactual
from afterd.causality.critical_predicates import extract_critical_predicates
from afterd.causality.infection import Green
from afterd.causality.semantic import semantic_analysis
from afterd.logic.solver import Solver
from afterd.model.term import BOOL, OPAQUE, Concrete, Const, Op, Term
from afterd.model.trace import Alignment, Effect, GreenValue


def _foresight(run: Recorded, levels: int = 1) -> Counterfactual:
    core = Solver(worker=InProcess()).core
    links = [Link(semantic_analysis(run, run.failed[0], core))]
    for level in range(1, levels):
        for parent in range(level - 1, len(links)):
            for critical in extract_critical_predicates(run, links[parent].cause):
                cause = semantic_analysis(run, critical.predicate, core)
                links.append(Link(cause, parent, level=level))
    return Counterfactual(run, Green(run), links)


def _predicted(run: Recorded, changes: Iterable[str], levels: int = 1) -> float:
    return _foresight(run, levels).passes(frozenset(changes))


def _sum(old: Term | None = None, *, clean: bool = True) -> Recorded:
    """X = 1 (green 1, or 2); y = x - 5 (green x + 5); z = y * 2; assert z == 12."""
    run = Recorded()
    x = run.assign(1, "x", 1, green=1 if clean else 2, changes=[] if clean else ["c0"])
    y = run.assign(2, "y", op(Op.SUB, x, 5), green=6 if clean else 7, changes=["c1"])
    if old is not None:
        run.steps[2] = replace(run.steps[2], old=old)
    z = run.assign(3, "z", op(Op.MUL, y, 2), green=12 if clean else 14)
    run.fail(9, compare(Op.EQ, z, 12))
    return aligned(run)


def test_on_clean_inputs_green_comes_back() -> None:
    assert _predicted(_sum(), ["c1"]) > 0.9


@pytest.mark.parametrize("into", [True, False])
def test_an_object_that_the_old_text_would_have_given_brings_green_back(*, into: bool) -> None:
    """gunicorn: with `return val` for `return result` nobody asks what was appended to `result`."""
    run = Recorded()
    val = run.assign(1, "val", Const(None, OPAQUE), green=None)
    result = run.assign(2, "result", Const(None, OPAQUE), green=ABSENT, changes=["c1"])
    added = run.assign(3, "", Const(None, OPAQUE), green=ABSENT, changes=["c2"])
    given = run.assign(4, "given", result, green=None, changes=["c3"])
    objects = {1: SAME, 4: Alignment.DIFFERENT}
    for number, alignment in objects.items():
        green = GreenValue(alignment, None, "['a']")
        run.steps[number] = replace(run.steps[number], green=green, rendered="['b']")
    run.steps[4] = replace(run.steps[4], old=val)
    equal = Concrete(
        value=False, sort=BOOL, reason="two lists", reads=(given, replace(added, into=into))
    )
    found = run.assign(5, "equal", equal, green=True)
    run.fail(9, found)
    assert (_predicted(aligned(run), ["c3"]) > 0.9) == into


def test_what_touches_nothing_is_not_predicted() -> None:
    assert _predicted(_sum(), ["c8"]) == 0.5


def test_the_old_text_is_evaluated_on_ill_inputs() -> None:
    """X stays 1 where green had 2: the old y is x + 5 = 6, the assertion on 12 holds."""
    run = _sum(clean=False)
    x = run.steps[1]
    run.steps[2] = replace(run.steps[2], old=op(Op.ADD, _read(run, x.id), 5))
    assert _predicted(run, ["c1"]) > 0.9
    assert _predicted(run, ["c0"]) < 0.1
    assert _predicted(run, ["c0", "c1"]) < 0.1  # green's own 14 is not what is asserted here


def _read(run: Recorded, step: int) -> Term:
    return run.steps[step + 1].term.args[0]  # type: ignore[union-attr]  # an application, above


def test_without_the_old_text_its_difference_on_greens_inputs_is_carried_over() -> None:
    """On green's input 2 the old text gave 7 and the new one gives -3: it is 10 more."""
    assert 0.5 < _predicted(_sum(clean=False), ["c1"]) < 0.9


@pytest.mark.parametrize(("what", "lower", "upper"), [(Effect.NEUTRAL, 0.0, 0.3)])
def test_a_neutral_change_does_nothing(what: Effect, lower: float, upper: float) -> None:
    run = _sum(clean=False)
    run.steps[2] = replace(run.steps[2], effect=what)
    assert lower < _predicted(run, ["c1"]) < upper


def test_half_of_a_statement_undone_is_not_predicted() -> None:
    """What is left is neither the old text nor the new one."""
    run = _sum()
    run.steps[2] = replace(run.steps[2], changes=("c1", "c2"))
    assert _predicted(run, ["c1"]) == 0.5
    assert _predicted(run, ["c1", "c2"]) > 0.9


def test_a_branch_back_on_greens_way_takes_its_steps_away() -> None:
    """Reverting c1 turns the branch; what green did not execute is gone, green's value is back."""
    run = Recorded()
    limit = run.assign(1, "limit", 3, green=9, changes=["c1"])
    x = run.assign(2, "x", 5, green=5)
    over = run.branch(3, compare(Op.GT, x, limit), green=False)
    cut = run.assign(4, "x", limit, green=ABSENT, control=over)
    y = run.assign(5, "y", op(Op.ADD, cut, 1), green=6)
    run.fail(9, compare(Op.EQ, y, 6))
    assert _predicted(aligned(run), ["c1"], levels=2) > 0.9


def test_a_way_that_green_did_not_take_is_not_predicted() -> None:
    """The running example: with c2 reverted the branch on line 5 turns, to where nobody went."""
    run = running_example()
    run.steps[50] = replace(run.steps[50], effect=Effect.MATTERS)
    assert _predicted(run, ["c2", "c3"], levels=2) == 0.5
    assert _predicted(run, ["c1", "c3"], levels=3) > 0.9  # green's own way round the fault


def test_a_definition_that_would_happen_again() -> None:
    """Reverting c1 turns the branch that skipped a definition: green's value is read again."""
    run = Recorded()
    b = run.assign(1, "b", 4, green=4)
    wanted = run.assign(2, "wanted", 0, green=1, changes=["c1"])
    skipped = run.branch(3, compare(Op.NE, wanted, 0), green=True)
    c = run.assign(5, "c", op(Op.ADD, b, 1), green=51)
    run.influences[5, 1] = [skipped]
    run.fail(9, compare(Op.EQ, c, 51))
    assert _predicted(aligned(run), ["c1"], levels=2) > 0.9


def test_an_assertion_that_would_not_be_reached() -> None:
    run = Recorded()
    limit = run.assign(1, "limit", 3, green=9, changes=["c1"])
    x = run.input(2, "x", 5)
    over = run.branch(3, compare(Op.GT, x, limit), green=False)
    run.fail(9, compare(Op.LT, x, 0), control=over)
    assert _predicted(aligned(run), ["c1"], levels=2) > 0.9


def test_no_failure_no_prediction() -> None:
    run = Recorded()
    assert Counterfactual(run, Green(run), []).passes(frozenset({"c1"})) == 0.5
