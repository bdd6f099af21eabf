"""Each step's conjunct, and the running example of the paper (Figs. 6 and 8) as one problem."""

from __future__ import annotations

import pytest
from in_process_solver import InProcess

from afterd.logic.constraint import Constraint, Kind, Unsatisfiable
from afterd.logic.evaluation import evaluate
from afterd.logic.solver import Solver
from afterd.logic.wp import generated_constraint, weakest_precondition
from afterd.model.location import Location
from afterd.model.term import BOOL, INT, OPAQUE, Apply, Concrete, Const, Op, Read, Term, Value
from afterd.model.trace import Alignment, GreenValue, Predicate, Step, StepKind


def _step(
    identifier: int,
    kind: StepKind,
    term: Term,
    value: Value = None,
    changes: tuple[str, ...] = (),
) -> Step:
    where = Location("max.c", identifier)
    return Step(identifier, where, f"s{identifier}", kind, term, value, changes=changes)


X, Y, Z = Read(1, INT, "x", 3), Read(2, INT, "y", 2), Read(3, INT, "z", 1)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (
            _step(7, StepKind.ASSIGN, Apply(Op.ADD, (X, Y), INT), 5),
            Constraint(7, Kind.DEFINES, Apply(Op.ADD, (X, Y), INT)),
        ),
        (
            _step(7, StepKind.BRANCH, Apply(Op.LT, (X, Y), BOOL), value=False),
            Constraint(7, Kind.ASSUMES, Apply(Op.NOT, (Apply(Op.LT, (X, Y), BOOL),), BOOL)),
        ),
        (
            _step(7, StepKind.BRANCH, Apply(Op.GT, (X, Y), BOOL), value=True),
            Constraint(7, Kind.ASSUMES, Apply(Op.GT, (X, Y), BOOL)),
        ),
        (
            _step(7, StepKind.INITIAL, Const(None, INT), 4),
            Constraint(7, Kind.DEFINES, Const(4, INT)),
        ),
        (
            _step(7, StepKind.OPAQUE, Concrete(4, INT, "read()"), 4),
            Constraint(7, Kind.DEFINES, Const(4, INT)),
        ),
        (
            _step(7, StepKind.OPAQUE, Concrete(4, INT, "strlen()", (X,)), 4),
            Constraint(7, Kind.DEFINES, Concrete(4, INT, "strlen()", (X,))),
        ),
        (
            _step(7, StepKind.OPAQUE, Const(None, OPAQUE), None),
            Constraint(7, Kind.DEFINES, Const(None, OPAQUE)),
        ),
    ],
    ids=["assignment", "branch not taken", "branch taken", "input", "call", "call of x", "None"],
)
def test_the_conjunct_of_a_step(step: Step, expected: Constraint) -> None:
    assert generated_constraint(step) == expected


def _running_example() -> list[Step]:
    """Trace s1 s2 s3 s4 s5 s7 s9 s10 of the buggy program, x = 3, y = 2, z = 1."""
    inputs = [_step(i, StepKind.INITIAL, Const(v, INT), v) for i, v in ((1, 3), (2, 2), (3, 1))]
    summed = Read(7, INT, "sum", 2)
    return [
        *inputs,
        _step(5, StepKind.BRANCH, Apply(Op.LT, (X, Y), BOOL), value=False, changes=("c2",)),
        _step(7, StepKind.ASSIGN, Y, 2),
        _step(9, StepKind.BRANCH, Apply(Op.GT, (Z, Const(0, INT)), BOOL), value=True),
        _step(10, StepKind.ASSIGN, Apply(Op.SUB, (summed, Z), INT), 1, ("c3",)),
    ]


def test_the_first_cause_of_the_running_example() -> None:
    total = Read(10, INT, "sum", 1)
    condition = Apply(Op.EQ, (total, Const(4, INT)), BOOL)
    assert evaluate(condition) is False
    steps = list(reversed(_running_example()))
    problem = weakest_precondition(Predicate(13, condition, "sum == 4"), steps)
    answer = Solver(worker=InProcess()).core(problem)
    assert answer == Unsatisfiable((10, 7, 3, 2), 6, minimal=True)  # z, y, sum = y, sum = sum - z


def test_known_steps_contribute_the_value_they_had() -> None:
    step = _step(10, StepKind.ASSIGN, Apply(Op.SUB, (X, Z), INT), 2)
    condition = Apply(Op.EQ, (Read(10, INT, "sum", 2), Const(4, INT)), BOOL)
    problem = weakest_precondition(Predicate(13, condition, "sum == 4"), [step], (), lambda _: True)
    assert problem.constraints == (Constraint(10, Kind.DEFINES, Const(2, INT)),)


def test_facts_come_last_and_have_the_value_that_was_read() -> None:
    step = _step(10, StepKind.ASSIGN, Apply(Op.SUB, (X, Z), INT), 2)
    condition = Apply(Op.EQ, (Read(10, INT, "sum", 2), Const(4, INT)), BOOL)
    problem = weakest_precondition(Predicate(13, condition, "sum == 4"), [step], [X, Z])
    assert [c.step for c in problem.constraints] == [10, 3, 1]
    assert problem.constraints[-1] == Constraint(1, Kind.DEFINES, Const(3, INT))


def test_unchanged_and_clean_steps_are_dropped_first() -> None:
    infected = Step(
        4, Location("f.c", 4), "y = x", StepKind.ASSIGN, X, 3,
        green=GreenValue(Alignment.DIFFERENT, 5),
    )  # fmt: skip
    steps = [
        _step(7, StepKind.ASSIGN, X, 3),
        _step(5, StepKind.ASSIGN, X, 3, ("c1",)),
        infected,
        _step(2, StepKind.ASSIGN, X, 3),
    ]
    predicate = Predicate(9, Const(value=False, sort=BOOL), "x")
    assert weakest_precondition(predicate, steps).drop_order == (2, 7, 4, 5)
