"""What commits changed after those that a root is of, and before."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_changes import made

from afterd.causality.deltas.history import made_after, made_before, oldest_commit

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


@pytest.mark.parametrize(
    ("root", "earlier", "oldest"),
    [
        ({"c1"}, set(), "old"),
        ({"c3"}, {"c1", "c2"}, "new"),
        ({"c2"}, set(), "old"),
        ({"c2", "c3"}, set(), "old"),
    ],
    ids=["nothing before it", "what an older commit had a hand in", "of two commits", "several"],
)
def test_what_came_before_a_root_is_older_than_each_of_its_commits(
    root: set[str], earlier: set[str], oldest: str
) -> None:
    """flake8-bugbear: its guilty lines had been written by the commit that broke it, and by the one after that."""
    makers = {"c1": ("old",), "c2": ("old", "new"), "c3": ("new",)}
    changes = {name: replace(each, commits=makers[name]) for name, each in made(3).items()}
    of_root = changes, frozenset(root)
    assert made_before(("old", "new"), *of_root) == earlier
    assert oldest_commit(("old", "new"), *of_root) == oldest
    assert made_before((), *of_root) == frozenset()
    assert not oldest_commit((), *of_root)
