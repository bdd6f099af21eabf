"""Cores are minimal, of the shortest suffix, the same every time, and never believed blindly."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import z3
from in_process_solver import InProcess
from problems import chain, number, of_steps, random_problem

from afterd.logic import translate
from afterd.logic.constraint import Constraint, Kind, Problem, Undecided, Unsatisfiable
from afterd.logic.propagation import contradiction
from afterd.logic.refutation import refuted
from afterd.logic.session import Session, Verdict
from afterd.logic.solver import Solver
from afterd.model.term import (
    BOOL,
    INT,
    OPAQUE,
    Apply,
    Concrete,
    Const,
    Free,
    Op,
    Read,
    SortKind,
    Term,
    bitvec,
)

WORD = bitvec(32)


@pytest.fixture(name="solver")
def _solver() -> Solver:
    return Solver(worker=InProcess())


def _verdict(problem: Problem) -> Verdict:
    session = Session(problem, 10_000_000, 10.0)
    return session.check(range(len(problem.constraints)))


def _core(solver: Solver, problem: Problem) -> tuple[int, ...]:
    answer = solver.core(problem)
    assert isinstance(answer, Unsatisfiable)
    return answer.core


@pytest.mark.parametrize("unfollowed", [0.0, 0.7])
@pytest.mark.parametrize("seed", range(60))
def test_cores_of_random_programs_are_minimal(solver: Solver, seed: int, unfollowed: float) -> None:
    sort = INT if seed % 3 == 0 else bitvec(8)
    problem = random_problem(
        seed, steps=10 + round(10 * unfollowed), sort=sort, unfollowed=unfollowed
    )
    answer = solver.core(problem)
    assert isinstance(answer, Unsatisfiable)
    assert _verdict(of_steps(problem, answer.core)) is Verdict.UNSAT
    if answer.minimal:
        for step in answer.core:
            rest = of_steps(problem, set(answer.core) - {step})
            assert _verdict(rest) is not Verdict.UNSAT, f"step {step} is not needed"


@pytest.mark.parametrize("seed", range(30))
def test_the_suffix_is_the_shortest(solver: Solver, seed: int) -> None:
    problem = random_problem(seed, steps=10)
    answer = solver.core(problem)
    assert isinstance(answer, Unsatisfiable)
    enough = Problem(problem.constraints[: answer.suffix], problem.goal)
    assert _verdict(enough) is Verdict.UNSAT
    if answer.suffix:
        short = Problem(problem.constraints[: answer.suffix - 1], problem.goal)
        assert _verdict(short) is not Verdict.UNSAT


def test_a_long_chain_needs_few_checks(solver: Solver) -> None:
    """Model rotation settles the chain with one model; the suffix is found by bisection."""
    problem = chain(1500, lambda a, _b: Apply(Op.ADD, (a, number(1, WORD)), WORD), WORD)
    answer = solver.core(problem)
    assert answer == Unsatisfiable(tuple(range(1499, -1, -1)), 1500, minimal=True)
    assert solver.calls < 40


def test_what_is_not_followed_needs_few_checks(solver: Solver) -> None:
    """No model can be read of opaque values; that each is needed follows from what reads it."""
    calls = [
        Constraint(
            i, Kind.DEFINES, Concrete(None, OPAQUE, "a call", (_opaque(i - 1), _opaque(i // 2)))
        )
        for i in range(1, 400)
    ]
    goal = Concrete(value=False, sort=BOOL, reason="objects compared", reads=(_opaque(399),))
    origin = Constraint(0, Kind.DEFINES, Const(None, OPAQUE))
    answer = solver.core(Problem((*reversed(calls), origin), goal))
    assert answer == Unsatisfiable(tuple(range(399, -1, -1)), 400, minimal=True)
    assert solver.calls < 20


def _opaque(step: int) -> Read:
    return Read(step, OPAQUE)


def test_a_path_condition_ends_the_chain_early(solver: Solver) -> None:
    """X is 9, and "x < 8" is refuted by the branch "x > 8" alone: the suffix stops there."""
    x = Read(0, WORD, "x", 9)
    branch = Constraint(1, Kind.ASSUMES, Apply(Op.GT, (x, number(8, WORD)), BOOL))
    origin = Constraint(0, Kind.DEFINES, number(9, WORD))
    goal = Apply(Op.LT, (x, number(8, WORD)), BOOL)
    assert solver.core(Problem((branch, origin), goal)) == Unsatisfiable((1,), 1, minimal=True)


def test_the_drop_order_chooses_between_cores(solver: Solver) -> None:
    """Two definitions that each refute the goal: the one that is to be dropped last stays."""
    origin = Constraint(0, Kind.DEFINES, number(5, WORD))
    copies = [Constraint(i, Kind.DEFINES, Read(0, WORD, "x", 5)) for i in (2, 1)]
    sides = [Apply(Op.EQ, (Read(i, WORD), number(0, WORD)), BOOL) for i in (1, 2)]
    steps, goal = (*copies, origin), Apply(Op.AND, tuple(sides), BOOL)
    assert _core(solver, Problem(steps, goal, drop_order=(0, 1, 2))) == (2, 0)
    assert _core(solver, Problem(steps, goal, drop_order=(0, 2, 1))) == (1, 0)


def test_a_free_value_makes_the_address_part_of_the_cause(solver: Solver) -> None:
    """A load: ite(address = 4, what was written there, anything)."""
    address, written = Read(0, WORD, "i", 4), Read(1, WORD, "a[4]", 7)
    here = Apply(Op.EQ, (address, number(4, WORD)), BOOL)
    load = Constraint(2, Kind.DEFINES, Apply(Op.ITE, (here, written, Free("a[i]", WORD)), WORD))
    steps = (
        load,
        Constraint(1, Kind.DEFINES, number(7, WORD)),
        Constraint(0, Kind.DEFINES, number(4, WORD)),
    )
    goal = Apply(Op.EQ, (Read(2, WORD, "x", 7), number(8, WORD)), BOOL)
    assert _core(solver, Problem(steps, goal)) == (2, 1, 0)


def test_a_term_as_deep_as_a_loop_is_long(solver: Solver) -> None:
    deep: Term = Read(0, WORD, "x", 1)
    for _ in range(100_000):
        deep = Apply(Op.NEG, (deep,), WORD)
    goal = Apply(Op.EQ, (Read(1, WORD, "y"), number(5, WORD)), BOOL)
    steps = (
        Constraint(1, Kind.DEFINES, deep),
        Constraint(0, Kind.DEFINES, number(1, WORD)),
    )
    answer = solver.core(Problem(steps, goal))
    assert isinstance(answer, Unsatisfiable)
    assert answer.core == (1, 0)


def test_evaluation_takes_the_branch_that_was_taken() -> None:
    x, y, c = (Read(i, WORD) for i in (0, 1, 2))
    choice = Apply(Op.ITE, (Apply(Op.EQ, (c, number(1, WORD)), BOOL), x, y), WORD)
    product = Apply(Op.MUL, (Read(3, WORD), y), WORD)
    steps = [
        Constraint(4, Kind.DEFINES, product),
        Constraint(3, Kind.DEFINES, choice),
        *(Constraint(i, Kind.DEFINES, number(i // 2, WORD)) for i in (2, 1, 0)),
    ]
    goal = Apply(Op.EQ, (Read(4, WORD), number(9, WORD)), BOOL)
    proof = contradiction(Problem(tuple(steps), goal), range(5))
    assert proof is not None
    assert {steps[i].step for i in proof} == {4, 3, 2, 0}  # the zero factor; y is not looked at


_SCRIPT = """
import sys; sys.path[:0] = [{tests!r}, {tests!r} + '/..']
from in_process_solver import InProcess
from problems import random_problem
from afterd.logic.solver import Solver
print([Solver(worker=InProcess()).core(random_problem(s, 12)) for s in range(12)])
"""


def test_the_same_core_whatever_the_hash_seed() -> None:
    script = _SCRIPT.format(tests=str(Path(__file__).parent))
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(printed) == 1
    assert "Unsatisfiable" in printed.pop()


def _always(value: bool) -> Callable[..., translate.Expression]:
    return lambda _term, a, _b: z3.BoolVal(value, a.ctx)


MUTATIONS: dict[str, tuple[SortKind, Op, Callable[..., translate.Expression]]] = {
    "+ as -": (SortKind.BITVEC, Op.ADD, lambda _t, a, b: a - b),
    "- swapped": (SortKind.BITVEC, Op.SUB, lambda _t, a, b: b - a),
    "< as <=": (SortKind.BITVEC, Op.LT, lambda _t, a, b: a <= b),
    "<= as <": (SortKind.BITVEC, Op.LE, lambda _t, a, b: a < b),
    "> never": (SortKind.BITVEC, Op.GT, _always(value=False)),
    "not forgotten": (SortKind.BOOL, Op.NOT, lambda _t, a: a),
    "* as +": (SortKind.BITVEC, Op.MUL, lambda _t, a, b: a + b),
}


def test_a_wrong_encoder_gets_no_false_core_past_us(
    solver: Solver, monkeypatch: pytest.MonkeyPatch
) -> None:
    problems = [random_problem(seed, steps=10) for seed in range(30)]
    refutations = []
    for name, (kind, op, operator) in MUTATIONS.items():
        with monkeypatch.context() as patch:
            patch.setitem(translate._TABLES[kind], op, operator)
            answers = [solver.core(problem) for problem in problems]
        for problem, answer in zip(problems, answers, strict=True):
            if isinstance(answer, Unsatisfiable):
                assert _verdict(of_steps(problem, answer.core)) is Verdict.UNSAT, name
            elif isinstance(answer, Undecided) and "refuted" in answer.reason:
                refutations.append(name)
    assert len(set(refutations)) >= 5, "the mutations were harmless"


def test_refutation_finds_the_missing_step() -> None:
    problem = chain(6, lambda a, _b: Apply(Op.ADD, (a, number(1)), bitvec(8)))
    assert not refuted(problem, range(6))
    assert all(refuted(problem, [s for s in range(6) if s != missing]) for missing in range(6))


def test_two_calls_that_gave_the_same_may_give_different_things_elsewhere() -> None:
    """What each read decides whether the results differ: no core leaves it out because they were equal here."""
    given = Read(0, OPAQUE, "token")
    calls = [
        Constraint(i, Kind.DEFINES, Concrete(None, OPAQUE, f"the result of call {i}", (given,)))
        for i in (2, 1)
    ]
    origin = Constraint(0, Kind.DEFINES, Const(None, OPAQUE))
    results = (Read(1, OPAQUE, "one"), Read(2, OPAQUE, "other"))
    problem = Problem((*calls, origin), Apply(Op.NE, results, BOOL))
    answer = Solver(worker=InProcess()).core(problem)
    assert isinstance(answer, Unsatisfiable)
    assert answer.core == (2, 1, 0)
