"""CP and BlockRank on loops, crashes, exits and several functions, and the solver below them."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from spectra_of import drawn_programs, timeless, walked

from afterd.localization.propagation.blockrank import (
    blockrank,
    blockrank_joint,
    suspicious_profile,
)
from afterd.localization.propagation.cp import cp
from afterd.localization.propagation.equations import solve
from afterd.localization.propagation.flow_graph import FlowGraph, flow_graph
from afterd.localization.rows import CountRows
from afterd.localization.spectrum import (
    Entity,
    EntityKind,
    FloatMatrix,
    Run,
    Spectrum,
    Vector,
    spectrum_of,
)
from afterd.model.location import Location

Edges = dict[tuple[int, int], tuple[int, int]]


def two_runs(blocks: list[tuple[int, int]], edges: Edges) -> FlowGraph:
    """The graph of one passed and one failed run; counts are (passed, failed)."""
    here = Location("f.c", 1)
    entities = [Entity(EntityKind.BLOCK, here) for _ in blocks]
    entities += [Entity(EntityKind.EDGE, here, source=s, target=t) for s, t in edges]
    counts = [*blocks, *edges.values()]
    rows = CountRows()
    for run in (0, 1):
        rows.add_mapping({column: count[run] for column, count in enumerate(counts)})
    runs = [Run("green", failed=False), Run("red", failed=True)]
    return flow_graph(spectrum_of(runs, entities, rows.matrix(len(entities))))


def dense(matrix: FloatMatrix) -> Vector:
    return np.asarray(matrix.toarray())


def test_a_loop_is_as_suspicious_as_its_extra_rounds() -> None:
    """Entered once in both runs, 2 and 9 rounds: header and body differ by 7, a singular set."""
    graph = two_runs(
        [(1, 1), (3, 10), (2, 9), (1, 1)],
        {(0, 1): (1, 1), (1, 2): (2, 9), (2, 1): (2, 9), (1, 3): (1, 1)},
    )
    assert blockrank(graph).tolist() == [0, 7, 7, 0]
    assert blockrank_joint(graph).tolist() == [0, 7, 7, 0]
    assert cp(graph) == pytest.approx([0, 7 / 11, 7 / 11, 0], abs=1e-8)


def crash_in_a_loop() -> FlowGraph:
    """b1 is the header, b2 the body; the failed run dies in its fourth round, inside the body."""
    return two_runs(
        [(1, 1), (3, 4), (2, 4), (1, 0)],
        {(0, 1): (1, 1), (1, 2): (2, 4), (2, 1): (2, 3), (1, 3): (1, 0)},
    )


def test_a_crash_in_a_loop_raises_the_block_it_happened_in() -> None:
    graph = crash_in_a_loop()
    scores = blockrank(graph)
    assert graph.transition_rate == pytest.approx([1, 1, 5 / 6, 0])
    assert scores.argmax() == 2
    assert np.isfinite(scores).all()


def test_equation_8_sinks_a_crash_in_a_loop() -> None:
    """Why it is not the default: b1 = b2 - 1 and b2 = 5/6 b1 + 1/6 · 2 have one solution."""
    assert blockrank_joint(crash_in_a_loop()) == pytest.approx([0, -4, -3, -1])


def test_a_function_of_one_block_is_found_by_its_entries() -> None:
    """No edge at all: the executions are entries, and a crash in it is not overlooked."""
    graph = two_runs([(1, 4), (3, 3)], {})
    assert blockrank(graph).tolist() == [3, 0]
    assert blockrank_joint(graph).tolist() == [3, 0]
    assert cp(graph).tolist() == [3 / 5, 0]


def test_a_block_that_calls_exit_keeps_its_own_inflow() -> None:
    """b1 goes on to b2 when it passes and calls exit() instead when it fails."""
    graph = two_runs([(1, 1), (1, 1), (1, 0)], {(0, 1): (1, 1), (1, 2): (1, 0)})
    assert graph.transition_rate.tolist() == [1.0, 0.5, 0.0]
    assert blockrank(graph).tolist() == [0, -0.5, -1]


def test_an_entry_block_that_is_a_loop_header() -> None:
    """Of the header's inflow of 1 + 4 the entry has a share of 1/5, which nobody before it gets."""
    graph = two_runs([(1, 6), (0, 4), (1, 2)], {(0, 1): (0, 4), (1, 0): (0, 4), (0, 2): (1, 2)})
    assert graph.failed.entries.tolist() == [2, 0, 0]
    assert blockrank(graph).tolist() == [5, 4, 1]


def test_functions_do_not_touch_each_other() -> None:
    shuffle = random.Random(7)
    first, second = [[1, 2], [0], []], [[1], [1, 2], []]
    together = flow_graph(walked([first, second], "++-", shuffle, crash_rate=0.0))
    edges = together.sources < 3
    assert not dense(together.shares(suspicious_profile(together)))[:3, 3:].any()
    assert (together.targets[edges] < 3).all()


def test_parallel_edges_add_up() -> None:
    """Two cases of a switch that go to the same block."""
    here = Location("f.c", 1)
    entities = [
        Entity(EntityKind.BLOCK, here),
        Entity(EntityKind.BLOCK, here),
        Entity(EntityKind.EDGE, here, source=0, target=1),
        Entity(EntityKind.EDGE, here, source=0, target=1),
    ]
    rows = CountRows()
    rows.add_mapping({0: 2, 1: 2, 2: 1, 3: 1})
    rows.add_mapping({0: 5, 1: 5, 2: 4, 3: 1})
    runs = [Run("green", failed=False), Run("red", failed=True)]
    graph = flow_graph(spectrum_of(runs, entities, rows.matrix(4)))
    assert blockrank(graph).tolist() == [3, 3]


@pytest.mark.parametrize("technique", [cp, blockrank, blockrank_joint])
def test_edges_that_cancel_out_pass_nothing_on(technique: Callable[[FlowGraph], Vector]) -> None:
    """Footnote 7: an inflow of zero divides nothing, even where its terms are not zero."""
    graph = two_runs(
        [(3, 3), (2, 1), (1, 2), (3, 3)],
        {(0, 1): (2, 1), (0, 2): (1, 2), (1, 3): (2, 1), (2, 3): (1, 2)},
    )
    assert technique(graph).tolist() == [0, 0, 0, 0]


@timeless
@given(drawn_programs(crashes=False))
def test_without_crashes_blockrank_is_the_difference_of_mean_executions(
    spectrum: Spectrum,
) -> None:
    """What flows out of a block flowed in, so the differences solve the equation set."""
    graph = flow_graph(spectrum)
    values = suspicious_profile(graph)
    inflow = graph.inflow(values)
    assume(not ((inflow[graph.targets] == 0) & (np.abs(values.edges) > 1e-9)).any())
    assert blockrank(graph) == pytest.approx(inflow, abs=1e-6)
    assert blockrank_joint(graph) == pytest.approx(inflow, abs=1e-6)


@timeless
@given(drawn_programs(crashes=True))
def test_equation_8_holds_wherever_it_can(spectrum: Spectrum) -> None:
    graph = flow_graph(spectrum)
    values = suspicious_profile(graph)
    rate = graph.transition_rate * graph.leaves
    system = np.eye(rate.size) - rate[:, None] * dense(graph.shares(values))
    right = (1 - rate) * graph.inflow(values)
    _is_best_solution(system, right, blockrank_joint(graph))


@timeless
@given(drawn_programs(crashes=True), st.sampled_from(["cp", "blockrank", "blockrank-joint"]))
def test_scores_are_finite_and_rates_are_rates(spectrum: Spectrum, name: str) -> None:
    graph = flow_graph(spectrum)
    scores = {"cp": cp, "blockrank": blockrank, "blockrank-joint": blockrank_joint}[name](graph)
    assert np.isfinite(scores).all()
    assert graph.transition_rate.min() >= 0
    assert graph.transition_rate.max() <= 1


small_weights = st.integers(1, 6).flatmap(
    lambda size: st.lists(
        st.lists(st.sampled_from([0.0, 0.0, 0.5, 1.0, -1.0, 2.0]), min_size=size, max_size=size),
        min_size=size,
        max_size=size,
    )
)


@timeless
@given(small_weights, st.randoms(use_true_random=False))
def test_the_solver_agrees_with_dense_least_squares(
    rows: list[list[float]], shuffle: random.Random
) -> None:
    weights = np.array(rows)
    constant = np.array([float(shuffle.randrange(-3, 4)) for _ in rows])
    guess = np.array([float(shuffle.randrange(-3, 4)) for _ in rows])
    system = np.eye(len(rows)) - weights
    found = solve(sparse.csr_array(weights), constant, guess)
    _is_best_solution(system, constant, found)
    nearest = guess + np.linalg.lstsq(system, constant - system @ guess, rcond=1e-9)[0]
    assert found == pytest.approx(nearest, abs=1e-5)


def _is_best_solution(system: Vector, right: Vector, found: Vector) -> None:
    best = np.linalg.lstsq(system, right, rcond=1e-9)[0]
    unavoidable = np.linalg.norm(system @ best - right)
    scale = 1 + np.abs(found).max(initial=0)
    assert np.linalg.norm(system @ found - right) <= unavoidable + 1e-6 * scale


def test_one_singular_function_does_not_spoil_the_exact_solution_of_another() -> None:
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    halves = np.array([[0.0, 0.5], [0.5, 0.0]])
    weights = sparse.block_diag([swap, halves]).tocsr()
    found = solve(sparse.csr_array(weights), np.array([1.0, -1.0, 3.0, 3.0]), np.zeros(4))
    assert found == pytest.approx([0.5, -0.5, 6.0, 6.0])


def test_rounding_does_not_break_ties() -> None:
    weights = sparse.csr_array(np.zeros((2, 2)))
    found = solve(weights, np.array([0.1 + 0.2, 0.3]), np.zeros(2))
    assert found[0] == found[1]
