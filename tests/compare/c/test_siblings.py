"""Calls from rewritten places are paired by where they stand among those that correspond."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.compare.c.siblings import sibling

PAIRED = [
    # place, calls of the failing run, calls of the green run, partners by execution index → found
    (0, [5], [7], {}, 7),  # a single call of each
    (0, [5, 6], [7, 8], {6: 8}, 7),  # before one that corresponds
    (1, [5, 6], [7, 8], {5: 7}, 8),  # behind it
    (1, [4, 5, 6], [7, 8, 9], {4: 7, 6: 9}, 8),  # between two
    (0, [5], [7, 8], {}, -1),  # green made one more: which is it?
    (1, [4, 5, 6], [7, 9], {4: 7, 6: 9}, -1),  # green made none there
    (0, [5], [], {}, -1),
]


@pytest.mark.parametrize(("place", "here", "there", "partners", "found"), PAIRED)
def test_the_call_between_the_same_neighbours_is_the_one(
    place: int, here: list[int], there: list[int], partners: dict[int, int], found: int
) -> None:
    assert sibling(place, here, there, lambda call: partners.get(call, -1)) == found


@given(st.lists(st.integers(0, 99), unique=True, max_size=12).map(sorted), st.data())
def test_equal_runs_are_paired_call_by_call(here: list[int], data: st.DataObject) -> None:
    known = data.draw(st.sets(st.sampled_from(here))) if here else set()
    there = [1000 + call for call in here]
    for place, call in enumerate(here):
        if call not in known:
            assert (
                sibling(place, here, there, lambda c: 1000 + c if c in known else -1) == 1000 + call
            )
