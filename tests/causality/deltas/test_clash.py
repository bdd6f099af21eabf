"""Of which other changes a variant's failure speaks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.causality.deltas.clash import clashing
from afterd.model.change import NOTHING, Change
from afterd.model.location import LineSpan, Location

# Three methods of a class in the bad version; what they replaced has other lengths.
HEADER = Change("c1", "a.py", "a.py", LineSpan(10, 1), LineSpan(10, 1), symbol="A")
INIT = Change("c2", "a.py", "a.py", LineSpan(12, 5), LineSpan(12, 2), symbol="A.__init__")
READ = Change("c3", "a.py", "a.py", LineSpan(25, 1), LineSpan(22, 3), symbol="A.read")
ADDED = Change("c4", "a.py", "a.py", LineSpan(30, 0), LineSpan(30, 4), symbol="A.extra")
OTHER = Change("c5", "b.py", "b.py", LineSpan(25, 1), LineSpan(25, 1), symbol="f")
CHANGES = {each.id: each for each in (HEADER, INIT, READ, ADDED, OTHER)}


@pytest.mark.parametrize(
    ("reverted", "lines", "clash"),
    [
        ("c2", [25], "c3"),  # line 22 of the bad version: three lines more stand above it
        ("c2", [24], ""),
        ("c2", [35, 25], "c3"),  # the call of what was only added
        ("c2", [35, 50], "c4"),
        ("c2", [35], "c4"),
        ("c2", [13], "c1 c3 c4"),  # within the old text: what is left around it
        ("c2 c3", [14], "c1 c4"),
        ("c5", [22], "c3"),
        ("c5", [], ""),
        ("c1 c2 c3 c4", [14], ""),
    ],
)
def test_what_a_failure_speaks_of(reverted: str, lines: list[int], clash: str) -> None:
    places = [Location("a.py", line) for line in lines]
    assert clashing(CHANGES, frozenset(reverted.split()), places) == set(clash.split())


def test_who_gave_names_of_old_text_another_meaning_comes_before_what_is_around_it() -> None:
    asked: list[tuple[str, int]] = []

    def meanings(undone: Change, line: int, left: Sequence[Change]) -> list[str]:
        asked.append((undone.id, line))
        return [each.id for each in left if each.id == "c5"]

    places = [Location("a.py", 13)]
    assert clashing(CHANGES, frozenset(["c2"]), places, meanings) == {"c5"}
    assert asked == [("c2", 13)]


def test_old_text_outside_functions_and_among_many_changes_tells_nothing() -> None:
    many = {
        f"c{n}": Change(
            f"c{n}", "a.py", "a.py", LineSpan(2 * n, 1), LineSpan(2 * n, 1), symbol="A.f"
        )
        for n in range(1, 30)
    }
    assert clashing(many, frozenset(["c3"]), [Location("a.py", 6)]) == NOTHING
    outside = {"c5": OTHER, "c6": Change("c6", "b.py", "b.py", LineSpan(1, 1), LineSpan(1, 1))}
    assert clashing(outside, frozenset(["c6"]), [Location("b.py", 1)]) == NOTHING


@given(
    st.sets(st.sampled_from(sorted(CHANGES))),
    st.lists(
        st.builds(Location, st.sampled_from(["a.py", "b.py"]), st.integers(1, 60)), max_size=4
    ),
)
def test_nothing_that_is_undone_is_told(reverted: set[str], places: list[Location]) -> None:
    told = clashing(CHANGES, frozenset(reverted), places)
    assert told <= CHANGES.keys() - reverted
