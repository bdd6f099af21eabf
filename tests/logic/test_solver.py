"""The solver's process: hard queries end within their budget, and the next query is answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from problems import chain, number

from afterd.limits import MIB, SolverLimits
from afterd.logic.constraint import (
    Constraint,
    Kind,
    Problem,
    Satisfiable,
    Undecided,
    Unsatisfiable,
)
from afterd.logic.solver import Solver
from afterd.logic.theory import Precision
from afterd.model.term import BOOL, INT, STRING, Apply, Const, Op, Read, Sort, Term, bitvec, ieee

LIMITS = SolverLimits(rlimit=1_000_000, timeout=0.6)
WORD, LONG, HUGE = bitvec(32), bitvec(64), bitvec(4096)


@pytest.fixture(name="solver", scope="module")
def _solver() -> Iterator[Solver]:
    with Solver(LIMITS) as solver:
        yield solver


def _apply(op: Op, *args: Term, sort: Sort | None = None) -> Term:
    return Apply(op, args, sort or args[0].sort)


def _problem(*conditions: Term) -> Problem:
    """Path conditions over free inputs; the goal is the last of them."""
    constraints = [
        Constraint(100 + i, Kind.ASSUMES, condition) for i, condition in enumerate(conditions[:-1])
    ]
    return Problem(tuple(constraints), conditions[-1])


def _inputs(sort: Sort, count: int = 3) -> list[Read]:
    return [Read(i, sort, f"x{i}") for i in range(count)]


def _fermat() -> Problem:
    """z3 issue 7607: x³ + y³ = z³ over positive integers."""
    x, y, z = _inputs(INT)
    cubes = [_apply(Op.MUL, v, v, v) for v in (x, y, z)]
    positive = [_apply(Op.GT, v, number(0, INT), sort=BOOL) for v in (x, y, z)]
    return _problem(*positive, _apply(Op.EQ, _apply(Op.ADD, *cubes[:2]), cubes[2], sort=BOOL))


def _factors(sort: Sort, product: int) -> Problem:
    x, y, _ = _inputs(sort)
    large = [_apply(Op.UGT, v, number(1, sort), sort=BOOL) for v in (x, y)]
    half = number(1 << sort.width // 2, sort)
    small = [_apply(Op.ULT, v, half, sort=BOOL) for v in (x, y)]
    equal = _apply(Op.EQ, _apply(Op.MUL, x, y), number(product, sort), sort=BOOL)
    return _problem(*large, *small, equal)


def _polynomial() -> Problem:
    """Non-linear integers: x⁴ + y⁴ = 3z² + 7 with far bounds."""
    x, y, z = _inputs(INT)
    fourth = [_apply(Op.MUL, v, v, v, v) for v in (x, y)]
    right = _apply(Op.ADD, _apply(Op.MUL, number(3, INT), z, z), number(7, INT))
    far = [_apply(Op.GT, v, number(10**6, INT), sort=BOOL) for v in (x, y, z)]
    return _problem(*far, _apply(Op.EQ, _apply(Op.ADD, *fourth), right, sort=BOOL))


def _hash() -> Problem:
    """Invert a 64-bit multiplicative hash of eight rounds."""
    value: Term = Read(0, LONG, "key")
    for _ in range(8):
        value = _apply(Op.MUL, _apply(Op.BITXOR, value, _apply(Op.LSHR, value, number(29, LONG))),
                       _apply(Op.ADD, value, number(0x9E3779B97F4A7C15, LONG)))  # fmt: skip
    return _problem(_apply(Op.EQ, value, number(12345, LONG), sort=BOOL))


def _million() -> Problem:
    """A term of 10^6 nodes, one inside the other."""
    value: Term = Read(0, WORD, "x")
    one = number(1, WORD)
    for _ in range(500_000):
        value = _apply(Op.ADD, value, one)
    return _problem(_apply(Op.EQ, value, number(3, WORD), sort=BOOL))


def _shared() -> Problem:
    """2^2000 paths through one shared term."""
    value: Term = Read(0, LONG, "x")
    for _ in range(2000):
        value = _apply(Op.MUL, value, value)
    return _problem(_apply(Op.EQ, value, number(3, LONG), sort=BOOL))


def _floats() -> Problem:
    x, y, _ = _inputs(ieee(64))
    ratio = _apply(Op.FDIV, _apply(Op.FMUL, x, x), y)
    root = _apply(Op.FEQ, ratio, Const(0.1, ieee(64)), sort=BOOL)
    return _problem(_apply(Op.FLT, x, y, sort=BOOL), root)


def _strings() -> Problem:
    x, y, z = _inputs(STRING)
    left = _apply(Op.STR_CONCAT, x, y, x, Const("ab", STRING), z)
    right = _apply(Op.STR_CONCAT, y, x, Const("ba", STRING), z, x)
    long = _apply(Op.GT, _apply(Op.STR_LEN, x, sort=INT), number(40, INT), sort=BOOL)
    return _problem(long, _apply(Op.EQ, left, right, sort=BOOL))


def _divisions() -> Problem:
    def step(a: Read, b: Read) -> Term:
        return _apply(Op.ADD, _apply(Op.UDIV, a, _apply(Op.BITOR, b, number(1, LONG))), b)

    whole = chain(200, step, LONG, start=99)
    return replace(whole, constraints=whole.constraints[:-1])  # the input is free


def _growing() -> Problem:
    """Integers with 2^n digits."""
    return chain(200, lambda a, b: _apply(Op.ADD, _apply(Op.MUL, a, b), number(1, INT)), INT)


HARD: dict[str, Callable[[], Problem]] = {
    "fermat": _fermat,
    "factors of a 64-bit number": lambda: _factors(LONG, 0xF2B4_9A51_8C1D_33FB),
    "4096-bit product": lambda: _factors(HUGE, (1 << 4000) + 9),
    "polynomial": _polynomial,
    "hash": _hash,
    "a million nodes": _million,
    "shared": _shared,
    "floats": _floats,
    "strings": _strings,
    "divisions": _divisions,
    "growing integers": _growing,
    "a long chain": lambda: chain(4000, lambda a, b: _apply(Op.ADD, a, b), INT),
}


@pytest.mark.parametrize("name", HARD)
def test_a_hard_query_ends_within_twice_its_budget(solver: Solver, name: str) -> None:
    problem = HARD[name]()
    began = time.monotonic()
    answer = solver.core(problem)
    spent = time.monotonic() - began
    handling = 12.0 if "million" in name else 3.0  # terms to JSON and back, on a busy machine
    assert spent < 2 * LIMITS.wall + handling
    assert isinstance(answer, (Satisfiable, Unsatisfiable, Undecided))
    if isinstance(answer, Undecided):
        assert answer.reason
    assert solver.core(chain(3, lambda a, b: _apply(Op.ADD, a, b))) == Unsatisfiable(
        (2, 1, 0), 3, minimal=True
    )


def test_no_child_is_left_behind() -> None:
    before = _children()
    with Solver(LIMITS) as solver:
        for name in ("fermat", "hash"):
            solver.core(HARD[name]())
    assert _children() == before


def _children() -> set[str]:
    processes = (path for path in Path("/proc").iterdir() if path.name.isdigit())
    return {path.name for path in processes if _parent(path) == _own_pid()}


def _own_pid() -> int:
    return int(Path("/proc/self").readlink().name)


def _parent(path: Path) -> int:
    try:
        return int(path.joinpath("stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return -1


def test_out_of_memory_is_an_answer_and_not_the_end() -> None:
    """z3 is poisoned for its whole process once it ran out (reliability.md, finding 5)."""
    limits = SolverLimits(rlimit=500_000_000, timeout=8.0, memory=60 * MIB)
    with Solver(limits) as solver:
        answer = solver.core(HARD["4096-bit product"]())
        assert isinstance(answer, Undecided)
        easy = chain(3, lambda a, b: _apply(Op.ADD, a, b))
        assert isinstance(solver.core(easy), Unsatisfiable)


def test_what_is_too_hard_is_asked_again_with_hard_operators_made_concrete() -> None:
    def step(a: Read, b: Read) -> Term:
        return _apply(Op.ADD, _apply(Op.MUL, a, b), number(1, LONG))

    problem = chain(60, step, LONG, start=3, end=6)
    with Solver(SolverLimits(rlimit=4_000_000, timeout=5.0)) as solver:
        answer = solver.core(problem)
    assert isinstance(answer, Unsatisfiable)
    assert answer.precision is Precision.CONCRETE
    assert answer.minimal
    assert set(answer.core) <= set(range(60))
    assert 59 in answer.core


def test_a_model_is_found_for_a_test_input(solver: Solver) -> None:
    x, y, _ = _inputs(WORD)
    total = _apply(Op.EQ, _apply(Op.ADD, x, y), number(10, WORD), sort=BOOL)
    ordered = _apply(Op.ULT, x, y, sort=BOOL)
    answer = solver.model(_problem(ordered, total))
    assert isinstance(answer, Satisfiable)
    first, second = answer.values[0], answer.values[1]
    assert isinstance(first, int)
    assert isinstance(second, int)
    assert (first + second) % (1 << 32) == 10
    assert first < second
    never = _problem(ordered, _apply(Op.ULT, y, x, sort=BOOL))
    assert isinstance(solver.model(never), Unsatisfiable)


def test_calls_are_counted_and_bounded() -> None:
    with Solver(replace(LIMITS, queries=3)) as solver:
        x, y, _ = _inputs(WORD)
        easy = _problem(_apply(Op.ULT, x, y, sort=BOOL))
        answers = [solver.core(easy) for _ in range(5)]
        assert solver.calls == 3
        assert answers[0] == Satisfiable()
        assert answers[-1] == Undecided("the budget of solver calls is spent")
