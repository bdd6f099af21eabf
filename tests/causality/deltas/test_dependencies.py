"""Partitions cover, keep the order, and cut where the program does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from made_changes import change, made

from afterd.causality.deltas.dependencies import (
    by_file,
    by_function,
    one_by_one,
    partition,
    structural_order,
)


@given(st.integers(0, 60), st.integers(1, 70), st.integers(1, 12), st.integers(1, 5))
def test_partitions_are_partitions(count: int, n: int, a_file: int, a_function: int) -> None:
    changes = made(count, a_file=a_file, a_function=a_function)
    ordered = list(changes)
    parts = partition(ordered, changes, n)
    assert [c for part in parts for c in part] == ordered
    assert len(parts) == max(1, min(n, count))
    assert all(parts) or count == 0
    size = count / max(1, min(n, count))
    assert all(len(part) <= 1.5 * size + 2 for part in parts)


def test_a_cut_moves_to_the_border_of_a_file() -> None:
    changes = {c.id: c for c in [change(i, "a.c" if i <= 9 else "b.c", "f") for i in range(1, 17)]}
    assert [len(part) for part in partition(list(changes), changes, 2)] == [9, 7]


def test_a_cut_moves_to_the_border_of_a_function() -> None:
    changes = {c.id: c for c in [change(i, "a.c", "f" if i <= 7 else "g") for i in range(1, 17)]}
    assert [len(part) for part in partition(list(changes), changes, 2)] == [7, 9]


def test_groups() -> None:
    changes = made(12, a_file=6, a_function=3)
    ordered = list(changes)
    assert [len(group) for group in by_file(ordered, changes)] == [6, 6]
    assert [len(group) for group in by_function(ordered, changes)] == [3, 3, 3, 3]
    assert len(one_by_one(ordered)) == 12


def test_structural_order_is_by_place() -> None:
    changes = [change(3, "b.c"), change(10, "a.c"), change(2, "a.c")]
    assert structural_order(changes) == ["c2", "c10", "c3"]
