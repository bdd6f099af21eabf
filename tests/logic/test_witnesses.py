"""What the run's own values show to be needed is needed: z3 finds the rest satisfiable."""

from __future__ import annotations

import pytest
from problems import of_steps, random_problem

from afterd.logic.constraint import Constraint, Kind, Problem
from afterd.logic.propagation import contradiction
from afterd.logic.session import Session, Verdict
from afterd.logic.witnesses import Witnesses, run_values
from afterd.model.term import (
    BOOL,
    INT,
    OPAQUE,
    STRING,
    Apply,
    Concrete,
    Const,
    Free,
    Op,
    Read,
    bitvec,
)

WORD = bitvec(32)


def _needed(problem: Problem) -> set[int] | None:
    """The steps that are told needed, of a core by evaluation; None where there is no such core."""
    core = contradiction(problem, range(len(problem.constraints)))
    values = None if core is None else run_values(problem, core)
    if core is None or values is None:
        return None
    return {problem.constraints[i].step for i in Witnesses(problem, core, values).needed()}


@pytest.mark.parametrize("unfollowed", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("seed", range(60))
def test_what_is_said_to_be_needed_is(seed: int, unfollowed: float) -> None:
    sort = INT if seed % 3 == 0 else bitvec(8)
    problem = random_problem(seed, steps=12, sort=sort, unfollowed=unfollowed)
    core = contradiction(problem, range(len(problem.constraints)))
    for step in _needed(problem) or ():
        assert core is not None
        steps = {problem.constraints[index].step for index in core}
        rest = of_steps(problem, steps - {step})
        session = Session(rest, 10_000_000, 10.0)
        assert session.check(range(len(rest.constraints))) is Verdict.SAT, step


def test_most_cores_of_random_programs_are_settled_so() -> None:
    """A walk that never found a witness would pass the test above."""
    told = [_needed(random_problem(seed, steps=12, unfollowed=0.5)) for seed in range(60)]
    assert sum(bool(needed) for needed in told) >= 40


def test_copies_calls_and_conditions_of_texts_and_objects() -> None:
    """As in a parser of Python: z3 gave no answer to any check of 978 such constraints."""
    name, other = Read(0, STRING, "name", "if"), Read(1, OPAQUE, "token")
    copy = Constraint(2, Kind.DEFINES, name)
    starts = Apply(Op.STR_PREFIX, (Read(2, STRING, "text", "if"), Const("i", STRING)), BOOL)
    kind = Concrete(value=False, sort=BOOL, reason="objects compared", reads=(other,))
    keyword = Constraint(
        3, Kind.DEFINES, Apply(Op.AND, (starts, Apply(Op.NOT, (kind,), BOOL)), BOOL)
    )
    constraints = (
        keyword,
        copy,
        Constraint(1, Kind.DEFINES, Const(None, OPAQUE)),
        Constraint(0, Kind.DEFINES, Const("if", STRING)),
    )
    goal = Apply(Op.NOT, (Read(3, BOOL, "keyword", value=True),), BOOL)
    assert _needed(Problem(constraints, goal)) == {0, 1, 2, 3}


def test_one_of_two_that_do_is_not_needed() -> None:
    """Both definitions refute the goal: the evaluated core has one of them, and that one is needed there."""
    copies = [Constraint(i, Kind.DEFINES, Read(0, WORD, "x", 5)) for i in (2, 1)]
    sides = [Apply(Op.EQ, (Read(i, WORD), Const(0, WORD)), BOOL) for i in (1, 2)]
    both = Problem(
        (*copies, Constraint(0, Kind.DEFINES, Const(5, WORD))), Apply(Op.AND, tuple(sides), BOOL)
    )
    core = {0, 1, 2}  # more than is needed
    values = run_values(both, core)
    assert values == {0: 5, 1: 5, 2: 5}
    assert not {0, 1} & Witnesses(both, core, values).needed()


def test_a_run_that_is_not_known_is_no_witness() -> None:
    """What a call gave was not seen."""
    unknown = Constraint(0, Kind.DEFINES, Concrete(None, WORD, "a call", ()))
    goal = Apply(Op.EQ, (Read(0, WORD, "x"), Const(0, WORD)), BOOL)
    assert run_values(Problem((unknown,), goal), {0}) is None


def test_what_may_have_any_value_is_chosen() -> None:
    """A read of whichever object stood there: of another one nothing is known."""
    other = Concrete(
        value=True, sort=BOOL, reason="which object was read", reads=(Read(0, OPAQUE, "tk"),)
    )
    found = Apply(Op.ITE, (other, Const(value=True, sort=BOOL), Free("", BOOL)), BOOL)
    constraints = (
        Constraint(1, Kind.DEFINES, found),
        Constraint(0, Kind.DEFINES, Const(None, OPAQUE)),
    )
    goal = Apply(Op.NOT, (Read(1, BOOL, "found", value=True),), BOOL)
    assert _needed(Problem(constraints, goal)) == {0, 1}


def test_a_difference_is_undone_by_the_other_side() -> None:
    constraints = (
        Constraint(
            2, Kind.DEFINES, Apply(Op.SUB, (Read(1, INT, "i", 13), Read(0, INT, "offset", 4)), INT)
        ),
        Constraint(1, Kind.DEFINES, Const(13, INT)),
        Constraint(0, Kind.DEFINES, Const(4, INT)),
    )
    goal = Apply(Op.EQ, (Read(2, INT, "left", 9), Const(2, INT)), BOOL)
    assert _needed(Problem(constraints, goal)) == {0, 1, 2}
