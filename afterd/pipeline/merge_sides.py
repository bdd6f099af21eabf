"""A merge whose sides pass alone: which commit stands for the other side, and how both are named.

Compared with one parent, a merge is guilty of what the other side brought. Where the test passes at both,
neither side is the culprit alone, and who reads the answer has to hear of both.
"""

from __future__ import annotations

import pygit2
from pygit2.enums import ObjectType

from afterd.limits import REPORT
from afterd.model.change import Change
from afterd.model.explanation import Explanation, RevisionRange
from afterd.model.wording import first_names


def other_parent(repository: pygit2.Repository, revisions: RevisionRange) -> str:
    """The other side of a merge of two that is compared with one of its parents; else empty."""
    if revisions.bad not in repository or revisions.good not in repository:
        return ""
    found = repository[revisions.bad]
    if found.type != ObjectType.COMMIT:
        return ""  # a patch that is tried is a tree
    parents = [str(parent) for parent in found.peel(pygit2.Commit).parent_ids]
    if len(parents) != 2 or revisions.good not in parents:
        return ""
    [other] = [parent for parent in parents if parent != revisions.good] or [""]
    if not other or other not in repository or repository.descendant_of(revisions.good, other):
        return ""
    return other


def both_sides(found: Explanation, other: Explanation) -> str:
    """That two sides are red together only, and what of each does not go with the other's."""
    sides = [(found.range.good, other.root), (other.range.good, found.root)]
    one, two = (f"{_places(root)} of {commit[:12]}'s side" for commit, root in sides)
    return f"Both sides of this merge pass alone; together {one} and {two} make it fail."


def _places(root: tuple[Change, ...]) -> str:
    places = [f"{change.file}:{change.new.start or change.old.start}" for change in root]
    return first_names(places, REPORT.named)
