"""Which changes of a passing reversion are needed: every one is told, in no more runs than there must be."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_changes import ids

from afterd.causality.deltas.needed import Needed
from afterd.model.change import ChangeId, ChangeSet, in_order


def _told(count: int, guilty: ChangeSet) -> tuple[ChangeSet, int]:
    """What is left when nothing more may be put back, and in how many runs."""
    left, needed, runs = ids(count), Needed(in_order(ids(count))), 0
    while part := needed.next_part():
        runs += 1
        if guilty <= left.difference(part):
            left = left.difference(part)
            needed.passed_without(part)
        else:
            needed.failed_without(part)
    return left, runs


@given(st.integers(1, 40), st.data())
def test_what_is_left_is_what_is_needed(count: int, data: st.DataObject) -> None:
    guilty = data.draw(st.sets(st.sampled_from(in_order(ids(count))), min_size=1))
    left, runs = _told(count, frozenset(guilty))
    assert left == guilty
    assert runs <= 2 * count


@pytest.mark.parametrize(
    ("count", "guilty", "most"),
    [(18, 16, 24), (18, 8, 24), (40, 20, 50), (100, 10, 62), (400, 3, 45)],
)
def test_it_is_learnt_how_many_are_needed(count: int, guilty: int, most: int) -> None:
    """Bisecting for one after the other took 63 and 39 runs for the first two: a rewritten function is needed whole."""
    runs = []
    for seed in range(8):
        chosen = random.Random(seed).sample(in_order(ids(count)), guilty)
        runs.append(_told(count, frozenset(chosen))[1])
    assert sum(runs) / len(runs) <= most


def test_what_was_tried_before_counts() -> None:
    needed = Needed(["c1", "c2", "c3", "c4"])
    needed.failed_without(["c2", "c3", "c4"])
    needed.failed_without(["c1"])
    part = needed.next_part()
    assert part
    assert "c1" not in part
    assert not {"c2", "c3", "c4"} <= set(part)


def test_a_refusal_of_which_all_but_one_are_not_needed_tells_that_one() -> None:
    needed = Needed(["c1", "c2", "c3"])
    needed.failed_without(["c1", "c2"])
    needed.passed_without(["c2"])
    needed.failed_without(["c3"])
    assert needed.next_part() == []


def test_refusals_that_share_their_cause_say_it_once() -> None:
    """prompt_toolkit: eighteen sets of a third failed, and 42 changes were then put back one by one."""
    order = [f"c{number}" for number in range(1, 44)]
    needed = Needed(order)
    for first in range(12):
        needed.failed_without(order[first : first + 30])
    assert len(needed.next_part()) > 3


@given(st.integers(2, 30), st.data())
def test_a_change_is_put_back_with_all_that_ask_for_it(count: int, data: st.DataObject) -> None:
    """So that nothing is built in vain: of what is left nobody asks for what is not there."""
    changes = in_order(ids(count))
    needs = {
        change: frozenset(data.draw(st.sets(st.sampled_from(changes[:number]), max_size=3)))
        for number, change in enumerate(changes)
        if number
    }
    closed = {change: _closed(change, needs) for change in changes}
    asked = data.draw(st.sets(st.sampled_from(changes), min_size=1, max_size=3))
    guilty = frozenset().union(*(closed[change] for change in asked))
    left, needed = ids(count), Needed(changes, closed)
    while part := needed.next_part():
        tried = left.difference(part)
        assert all(closed[change] <= tried for change in tried)
        if guilty <= tried:
            left = tried
            needed.passed_without(part)
        else:
            needed.failed_without(part)
    assert left == guilty


def _closed(change: ChangeId, needs: Mapping[ChangeId, ChangeSet]) -> ChangeSet:
    """A change and all that it asks for, the one through the other."""
    found, waiting = set[ChangeId](), [change]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += needs.get(each, frozenset())
    return frozenset(found)


def test_two_that_ask_for_each_other_are_put_back_together_or_not_at_all() -> None:
    needs = {"c1": frozenset({"c2"}), "c2": frozenset({"c1"})}
    needed = Needed(["c3", "c1", "c2"], needs)
    assert set(needed.next_part()) == {"c3"}
    needed.failed_without(["c3"])
    assert set(needed.next_part()) == {"c1", "c2"}
    needed.failed_without(["c1", "c2"])
    assert not needed.next_part()
