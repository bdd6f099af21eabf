"""Rounds of an interpreter's loop beside those of another run: by what was dispatched."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from two_versions import Case

from afterd.compare.c.rounds import NOWHERE, UNKNOWN, as_in_good, corresponding_places

CASES = {
    "alike": ("abcd", "abcd", [0, 1, 2, 3]),
    "one left out": ("abdefgh", "abcdefgh", [0, 1, 3, 4, 5, 6, 7]),
    "one more": ("abXcdefgh", "abcdefgh", [0, 1, NOWHERE, 2, 3, 4, 5, 6, 7]),
    "another one": ("abXdefgh", "abcdefgh", [0, 1, 2, 3, 4, 5, 6, 7]),
    "one for two": ("abXefgh", "abcdefgh", [0, 1, UNKNOWN, 4, 5, 6, 7]),
    "ends sooner": ("abc", "abcdef", [0, 1, 2]),
    "goes on": ("abcxy", "abc", [0, 1, 2, NOWHERE, NOWHERE]),
    "another end": ("abcX", "abcd", [0, 1, 2, 3]),
    "twice": ("aXbcdeYfghi", "abcdefghi", [0, NOWHERE, 1, 2, 3, 4, NOWHERE, 5, 6, 7, 8]),
}


def words(text: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([ord(letter) for letter in text], dtype=np.int64)


@pytest.mark.parametrize(("here", "there", "expected"), CASES.values(), ids=CASES)
def test_where_rounds_correspond(here: str, there: str, expected: list[int]) -> None:
    assert corresponding_places(words(here), words(there)).tolist() == expected


def test_what_has_nothing_in_common_is_unknown() -> None:
    found = corresponding_places(words("ab" * 300), words("cd" * 300))
    assert set(found.tolist()) == {UNKNOWN}


@given(st.lists(st.integers(0, 5)), st.lists(st.integers(0, 5)))
def test_counterparts_are_in_order_and_each_is_given_once(
    here: list[int], there: list[int]
) -> None:
    found = corresponding_places(np.array(here, np.int64), np.array(there, np.int64))
    told = [place for place in found.tolist() if place >= 0]
    assert told == sorted(set(told))
    assert all(place < len(there) for place in told)


@given(st.lists(st.integers(0, 5)))
def test_a_run_is_its_own_counterpart(items: list[int]) -> None:
    found = corresponding_places(np.array(items, np.int64), np.array(items, np.int64))
    assert found.tolist() == list(range(len(items)))


def test_a_place_that_the_good_version_has_not_is_like_no_other() -> None:
    told = as_in_good(np.array([3, 4, 5, -1, 4], np.int64), {3: 7})
    assert told[0] == 7
    assert told[3] == -1
    assert len({told[1], told[2], -1, 7}) == 4
    assert told[1] == told[4] < 0


@pytest.mark.parametrize(
    ("text", "value", "green"),
    [
        ("stack[top] *= stack[top + 1];", "0", "20"),
        ("case PUSH: stack[++top] = orders[at++];", "0", "4"),
    ],
)
def test_a_round_of_an_interpreter_stands_beside_the_one_that_did_the_same(
    cases: dict[str, Case], text: str, value: str, green: str
) -> None:
    found = [(step.rendered, step.green.rendered) for step in cases["interpreted"].at(text)]
    assert (value, green) in found, found


def test_what_an_interpreter_was_given_is_where_it_went_wrong(cases: dict[str, Case]) -> None:
    assert any("value < 4 ? value : 0" in change for change in cases["interpreted"].tied)
