"""Causes: the paper's, and what happens at the ends of what can be known."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from in_process_solver import InProcess
from paper_examples import running_example
from recorded import Recorded, aligned, compare, op

from afterd.causality.cause import Cause
from afterd.causality.critical_predicates import other_way
from afterd.causality.semantic import SliceLimits, semantic_analysis
from afterd.logic.constraint import Answer, Problem, Satisfiable, Undecided
from afterd.logic.solver import Solver
from afterd.model.explanation import Evidence
from afterd.model.term import INT, Concrete, Op, Read
from afterd.model.trace import Predicate, StepKind


def _cause(
    run: Recorded, predicate: Predicate | None = None, limits: SliceLimits | None = None
) -> Cause:
    core = Solver(worker=InProcess()).core
    return semantic_analysis(run, predicate or run.failed[0], core, limits)


def _ids(cause: Cause) -> list[int]:
    return [step.id for step in cause.steps]


def test_the_first_cause_of_the_running_example() -> None:
    """s2 (y and z), s7, s10, s13: the paper's, without the declaration on line 3."""
    cause = _cause(running_example())
    assert _ids(cause) == [22, 23, 70, 100, 130]
    assert cause.evidence is Evidence.PROVED
    assert cause.minimal
    assert [c for step in cause.steps for c in step.changes] == ["c3"]


def test_the_second_cause_of_the_running_example() -> None:
    """s2 (x and y), s5."""
    run = running_example()
    branch = run.steps[50]
    cause = _cause(run, Predicate(50, other_way(branch), branch.text))
    assert _ids(cause) == [21, 22, 50]
    assert [c for step in cause.steps for c in step.changes] == ["c2"]


def test_what_cannot_matter_is_not_in_the_core() -> None:
    run = Recorded()
    x = run.input(1, "x", 5)
    useless = run.assign(2, "u", op(Op.SUB, x, x), changes=["c1"])
    other = run.assign(3, "v", op(Op.ADD, useless, 3))
    run.fail(9, compare(Op.EQ, other, 4))
    assert _ids(_cause(run)) == [2, 3, 9]  # x - x is 0 whatever x is


def test_a_step_with_greens_value_is_taken_as_it_is() -> None:
    """What lies behind it cannot have carried the infection, and is never asked for."""
    run = Recorded()
    start = run.input(1, "start", 2)
    long = [run.assign(i, "t", op(Op.ADD, start, i), green=2 + i) for i in range(2, 6)]
    clean = run.assign(7, "c", op(Op.ADD, long[0], long[1]), green=9)
    wrong = run.assign(8, "w", op(Op.MUL, clean, 2), green=28, changes=["c1"])
    run.fail(9, compare(Op.EQ, wrong, 28))
    cause = _cause(aligned(run))
    assert _ids(cause) == [7, 8, 9]
    assert cause.evidence is Evidence.PROVED
    assert not {2, 3} & set(run.asked)


def _loop(count: int) -> Recorded:
    run = Recorded()
    total = run.input(1, "total", 0)
    for i in range(2, count + 2):
        total = run.assign(i, "total", op(Op.ADD, total, 3))
    run.fail(10**6, compare(Op.EQ, total, 1))
    return run


def test_a_long_slice_is_cut_and_says_so() -> None:
    cause = _cause(_loop(500), limits=SliceLimits(first=20, growth=2, most=100))
    assert cause.evidence is Evidence.INFERRED
    assert cause.note == "1 values were taken as observed: the slice was cut."
    assert len(cause.steps) == 102  # with the value that was taken, and the assertion


def test_a_long_slice_that_fits_is_proved() -> None:
    cause = _cause(_loop(500), limits=SliceLimits(first=20, growth=2, most=1000))
    assert cause.evidence is Evidence.PROVED
    assert len(cause.steps) == 502


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (Undecided("time-out"), "The solver has no answer (time-out): dependence stands"),
        (Satisfiable(), "Its values alone do not decide it: that it depends on these steps"),
    ],
)
def test_without_an_answer_the_slice_stands_for_the_cause(answer: Answer, note: str) -> None:
    run = running_example()
    problems: list[Problem] = []

    def core(problem: Problem) -> Answer:
        problems.append(problem)
        return answer

    cause = semantic_analysis(run, run.failed[0], core)
    assert cause.evidence is Evidence.INFERRED
    assert cause.note.startswith(note)
    assert {70, 100, 130} <= set(_ids(cause))
    assert not {22, 23} & set(_ids(cause))  # as in green
    assert len(problems) == 1


def test_terms_made_concrete_are_listed() -> None:
    run = Recorded()
    x = run.input(1, "x", 5)
    length = run.assign(
        2, "n", Concrete(5, INT, "strlen() is not followed", (x,)), kind=StepKind.OPAQUE
    )
    masked = run.assign(3, "m", op(Op.BITOR, length, 2))
    run.fail(9, compare(Op.EQ, masked, 4))
    cause = _cause(run)
    assert _ids(cause) == [1, 2, 3, 9]  # the call's result depends on what it was given
    assert set(cause.made_concrete) == {"strlen() is not followed", "| of unbounded integers"}


def test_path_conditions_belong_to_the_precondition() -> None:
    """The assertion is refuted by the branch that was taken: nothing before it is needed."""
    run = Recorded()
    x: Read = run.assign(1, "x", 9, changes=["c1"])
    inside = run.branch(2, compare(Op.GT, x, 5), changes=["c2"])
    run.fail(3, compare(Op.LT, x, 5), control=inside)
    assert _ids(_cause(run)) == [2, 3]


def test_the_same_cause_every_time() -> None:
    def once() -> Sequence[int]:
        return _ids(_cause(running_example()))

    assert once() == once()
