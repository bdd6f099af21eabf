"""Augmented delta debugging: what did not run goes first, whole files before single changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from made_changes import FAIL, PASS, Counting, arbitrary, ids, made, repaired_by, running_example

from afterd.causality.deltas.add import add
from afterd.causality.deltas.dd import dd
from afterd.causality.deltas.dependencies import one_by_one
from afterd.model.change import in_order


def test_unexecuted_changes_are_settled_with_one_run() -> None:
    oracle = Counting(repaired_by({"c250"}))
    found = add(made(300), ["c250", "c17", "c31", "c4"], oracle)
    assert found.difference == {"c250"}
    assert oracle.asked[0] == frozenset({"c250", "c17", "c31", "c4"})
    assert len(oracle.asked) <= 4


def test_a_guilty_change_that_was_not_executed_is_found_all_the_same() -> None:
    """A macro, a type, a removed statement: coverage does not see it."""
    oracle = Counting(repaired_by({"c123"}))
    assert add(made(300), ["c1", "c2"], oracle).difference == {"c123"}


def test_files_go_before_functions_before_changes() -> None:
    oracle = Counting(repaired_by({"c123"}))
    add(made(300), [], oracle)
    plain = Counting(repaired_by({"c123"}))
    dd(one_by_one(in_order(ids(300))), plain)
    whole_files = [made(300)[c].file for c in oracle.asked[0]]
    assert len(oracle.asked[0]) == 10 * len(set(whole_files))
    assert len(oracle.asked) <= 2 * len(plain.asked)


def test_it_is_as_wrong_as_delta_debugging_on_the_papers_example() -> None:
    found = add(made(4), ["c4", "c3", "c2", "c1"], running_example)
    assert len(found.difference) == 1
    assert running_example(found.difference) is FAIL


@given(st.integers(), st.integers(2, 9), st.integers(0, 9))
def test_minimal_and_bounded_whatever_the_oracle_says(seed: int, count: int, ran: int) -> None:
    answer = arbitrary(seed, count)
    oracle = Counting(answer)
    executed = [f"c{i}" for i in range(min(ran, count), 0, -1)]
    found = add(made(count, a_file=4, a_function=2), executed, oracle)
    whole = ids(count)
    assert answer(whole - found.passing) is PASS
    assert answer(whole - found.failing) is FAIL
    for change in found.difference if len(found.difference) > 1 else ():
        assert answer(whole - (found.passing | {change})) is not FAIL
        assert answer(whole - (found.failing - {change})) is not PASS
    assert len(oracle.asked) == len(set(oracle.asked)) <= 1 + 3 * (count**2 + 3 * count)


@given(st.integers(0, 30))
def test_a_spent_budget_leaves_what_is_known(budget: int) -> None:
    answer = repaired_by({"c5", "c70"})
    found = add(made(100), ["c70", "c5"], Counting(answer, budget))
    assert answer(ids(100) - found.passing) is PASS
    assert answer(ids(100) - found.failing) is FAIL
    assert found.complete or found.calls > budget
