"""A merge whose sides pass alone: which commits stand for them, and how both are named.

Compared with one parent, a merge is guilty of what the other side brought. Where the test passes at both,
neither side is the culprit alone, and who reads the answer has to hear of both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pygit2
from pygit2.enums import ObjectType

from afterd.limits import REPORT
from afterd.model.change import Change
from afterd.model.explanation import Explanation, RevisionRange
from afterd.model.wording import first_names


def with_both_sides(
    repository: pygit2.Repository,
    found: Explanation,
    across: Callable[[str, Explanation], Explanation | None],
) -> Explanation:
    """The answer, with both sides named where its bad end is a merge of two lines that pass alone. ``across`` explains
    the merge beside one of its parents; None where the test does not pass there.
    """
    parents = _sides(repository, found.range)
    told = [found] if found.range.good in parents else []
    for parent in parents[len(told) :]:
        beside = across(parent, found)
        if beside is None or not beside.root:
            return found
        told.append(beside)
    return replace(found, reason=f"{_both(*told)} {found.reason}".rstrip()) if told else found


def _sides(repository: pygit2.Repository, revisions: RevisionRange) -> tuple[str, ...]:
    """The two parents of the bad end where it is a merge that joins two lines, the good end first where it is one of
    them; else empty.
    """
    found = repository.get(revisions.bad)
    if found is None or found.type != ObjectType.COMMIT:
        return ()  # a patch that is tried is a tree
    parents = [str(parent) for parent in found.peel(pygit2.Commit).parent_ids]
    if len(parents) != 2 or not all(parent in repository for parent in parents):
        return ()
    one, two = sorted(parents, key=lambda parent: parent != revisions.good)
    if one == two or repository.descendant_of(one, two) or repository.descendant_of(two, one):
        return ()
    return (one, two)


def _both(found: Explanation, other: Explanation) -> str:
    """That two sides are red together only, and what of each does not go with the other's."""
    sides = [(found.range.good, other.root), (other.range.good, found.root)]
    one, two = (f"{_places(root)} of {commit[:12]}'s side" for commit, root in sides)
    return f"Both sides of this merge pass alone; together {one} and {two} make it fail."


def _places(root: tuple[Change, ...]) -> str:
    places = [f"{change.file}:{change.new.start or change.old.start}" for change in root]
    return first_names(places, REPORT.named)
