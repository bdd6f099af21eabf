"""What commits changed after those that a root is of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_changes import made

from afterd.causality.deltas.history import made_after

COMMITS = ("a", "b", "c")
MADE_BY = {"c1": ("a",), "c2": ("a", "c"), "c3": ("b",), "c4": ()}


@pytest.mark.parametrize(
    ("root", "later"),
    [
        ({"c1"}, {"c2", "c3"}),
        ({"c3"}, {"c2"}),
        ({"c2"}, set()),  # of two commits it is the newer one's
        ({"c1", "c3"}, {"c2"}),
        ({"c1", "c4"}, set()),  # nobody is known to have made one of them
    ],
)
def test_what_came_after_every_change_of_a_root(root: set[str], later: set[str]) -> None:
    changes = {
        name: replace(each, commits=MADE_BY[name]) for name, each in made(len(MADE_BY)).items()
    }
    assert made_after(COMMITS, changes, frozenset(root)) == later


def test_without_commits_nothing_came_later() -> None:
    assert made_after((), made(2), frozenset({"c1"})) == frozenset()
