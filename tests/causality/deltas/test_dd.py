"""Delta debugging: minimal, bounded, ended by the budget, and wrong where the paper says it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_changes import FAIL, PASS, Counting, arbitrary, ids, repaired_by, running_example

from afterd.causality.deltas.dd import Isolation, dd
from afterd.causality.deltas.dependencies import one_by_one
from afterd.model.change import ChangeSet, in_order
from afterd.model.outcome import Verdict


def _units(count: int) -> list[ChangeSet]:
    return one_by_one(in_order(ids(count)))


def test_the_papers_example_ends_at_one_change_that_repairs_nothing() -> None:
    """Fig. 10: {c3, c4} fails, {c4} passes, the difference is c3; reverting c3 alone fails."""
    oracle = Counting(running_example)
    found = dd(_units(4), oracle)
    assert found == Isolation(frozenset({"c4"}), frozenset({"c3", "c4"}), 2)
    assert found.difference == {"c3"}
    assert oracle.asked == [frozenset({"c1", "c2"}), frozenset({"c1", "c2", "c3"})]
    assert running_example(found.difference).verdict is Verdict.FAIL


def test_a_single_guilty_change_is_found_by_bisection() -> None:
    oracle = Counting(repaired_by({"c37"}))
    assert dd(_units(64), oracle).difference == {"c37"}
    assert len(oracle.asked) <= 12  # about 2 · log2 64


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_to_split(count: int) -> None:
    oracle = Counting(repaired_by(ids(count)))
    assert dd(_units(count), oracle).difference == ids(count)
    assert oracle.asked == []


@given(st.integers(), st.integers(2, 9))
def test_the_difference_is_minimal_whatever_the_oracle_says(seed: int, count: int) -> None:
    answer = arbitrary(seed, count)
    oracle = Counting(answer)
    found = dd(_units(count), oracle)
    whole = ids(count)
    assert found.complete
    assert found.passing < found.failing
    assert answer(whole - found.passing) is PASS
    assert answer(whole - found.failing) is FAIL
    for change in found.difference if len(found.difference) > 1 else ():
        assert answer(whole - found.passing - {change}) is not FAIL or len(found.difference) == 1
        assert answer(whole - (found.passing | {change})) is not FAIL
        assert answer(whole - (found.failing - {change})) is not PASS
    assert found.calls == len(oracle.asked) == len(set(oracle.asked))
    assert found.calls <= count**2 + 3 * count


@given(st.sets(st.integers(1, 40), min_size=1, max_size=4), st.integers(0, 60))
def test_a_spent_budget_leaves_what_is_known(guilty: set[int], budget: int) -> None:
    root = {f"c{i}" for i in guilty}
    answer = repaired_by(root)
    isolation = dd(_units(40), Counting(answer, budget))
    assert answer(ids(40) - isolation.passing) is PASS
    assert answer(ids(40) - isolation.failing) is FAIL
    assert isolation.complete or isolation.calls > budget


def test_the_same_questions_in_the_same_order() -> None:
    asked = []
    for _ in range(2):
        oracle = Counting(arbitrary(7, 9))
        dd(_units(9), oracle)
        asked.append(oracle.asked)
    assert asked[0] == asked[1]
