"""Correction sets, cores and hitting sets against exhaustive search on small formulas."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import pytest

from afterd.execution.worker import Reply
from afterd.limits import SolverLimits
from afterd.logic import maxsat_process
from afterd.logic.maxsat import Formula, Literals, MaxSat, Sets

VARIABLES = 4


class _InProcess:
    def ask(self, request: dict[str, Any], seconds: float | None = None) -> Reply:
        del seconds
        reply = maxsat_process.answer(json.loads(json.dumps(request)))
        return Reply(json.loads(json.dumps(reply)), 0.0)

    def close(self) -> None:
        """Nothing to end."""


@pytest.fixture(name="solver")
def _solver() -> MaxSat:
    return MaxSat(worker=_InProcess())


def _formula(seed: int, *, weighted: bool = False) -> Formula:
    chance = random.Random(seed)

    def clause() -> Literals:
        variables = chance.sample(range(1, VARIABLES + 1), chance.choice((1, 1, 2, 3)))
        return tuple(v * chance.choice((1, -1)) for v in variables)

    soft = tuple(clause() for _ in range(7))
    weights = tuple(chance.randrange(1, 6) for _ in soft) if weighted else ()
    return Formula(tuple(clause() for _ in range(2)), soft, weights)


def _satisfiable(clauses: Sequence[Literals]) -> bool:
    return any(
        all(any(signs[abs(lit) - 1] == (lit > 0) for lit in clause) for clause in clauses)
        for signs in product((False, True), repeat=VARIABLES)
    )


def _subsets(count: int) -> Iterator[tuple[int, ...]]:
    for size in range(count + 1):
        yield from combinations(range(count), size)


def _corrects(formula: Formula, dropped: Sequence[int]) -> bool:
    kept = [clause for i, clause in enumerate(formula.soft) if i not in dropped]
    return _satisfiable([*formula.hard, *kept])


def _minimal(sets: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return [s for s in sets if not any(set(other) < set(s) for other in sets)]


@pytest.mark.parametrize("seed", range(25))
def test_correction_sets_are_all_the_minimal_ones_smallest_first(solver: MaxSat, seed: int) -> None:
    formula = _formula(seed)
    expected = _minimal([s for s in _subsets(7) if _corrects(formula, s)])
    found = solver.correction_sets(formula, size=7)
    assert found.complete
    assert sorted(found.sets) == sorted(expected)
    assert [len(s) for s in found.sets] == sorted(len(s) for s in expected)
    small = solver.correction_sets(formula, size=2)
    assert sorted(small.sets) == sorted(s for s in expected if len(s) <= 2)


@pytest.mark.parametrize("seed", range(25))
def test_the_minimum_is_the_cheapest(solver: MaxSat, seed: int) -> None:
    formula = _formula(seed, weighted=True)
    costs = [sum(formula.weights[i] for i in s) for s in _subsets(7) if _corrects(formula, s)]
    found = solver.minimum(formula)
    if not costs:
        assert found.sets == ()
    else:
        assert sum(formula.weights[i] for i in found.sets[0]) == min(costs)
        assert _corrects(formula, found.sets[0])


@pytest.mark.parametrize("seed", range(25))
def test_cores_are_minimal_and_the_smallest_is_smallest(solver: MaxSat, seed: int) -> None:
    formula = _formula(seed)
    if not _satisfiable(formula.hard):
        return
    cores = _minimal([
        s for s in _subsets(7)
        if not _satisfiable([*formula.hard, *(formula.soft[i] for i in s)])
    ])  # fmt: skip
    found, smallest = (
        solver.unsatisfiable_core(formula).sets,
        solver.unsatisfiable_core(formula, smallest=True).sets,
    )
    if not cores:
        assert found == smallest == ()
    else:
        assert found[0] in cores
        assert len(smallest[0]) == min(map(len, cores))


@pytest.mark.parametrize("weights", [None, {1: 5, 2: 1, 3: 1, 7: 9}])
def test_hitting_sets(solver: MaxSat, weights: dict[int, int] | None) -> None:
    found = solver.hitting_sets([[1, 2], [1, 3], [7, 1]], size=3, weights=weights)
    assert found.complete
    assert set(found.sets) == {(1,), (2, 3, 7)}
    assert found.sets[0] == (1,)


def test_what_is_cut_short_says_so(solver: MaxSat) -> None:
    formula = Formula((), tuple((sign * v,) for v in range(1, 9) for sign in (1, -1)))
    found = solver.correction_sets(formula, size=8, count=10)
    assert len(found.sets) == 10
    assert found == Sets(found.sets, complete=False, reason="more than 10 sets")


def _pigeons(count: int) -> Formula:
    """``count`` + 1 pigeons in ``count`` holes: hard for resolution."""
    spot = [[1 + p * count + h for h in range(count)] for p in range(count + 1)]
    alone = tuple(
        (-spot[p][h], -spot[q][h])
        for h in range(count)
        for p, q in combinations(range(count + 1), 2)
    )
    return Formula(alone, tuple(tuple(row) for row in spot))


def test_a_hard_formula_ends_and_the_next_is_answered() -> None:
    solver = MaxSat(SolverLimits(timeout=1.0))
    try:
        core = solver.unsatisfiable_core(_pigeons(14))
        assert not core.complete
        assert core.reason
        sets = solver.correction_sets(_pigeons(14))
        assert sets.complete or sets.reason
        assert solver.correction_sets(Formula(((1,),), ((-1,),))).sets == ((0,),)
    finally:
        solver.close()
