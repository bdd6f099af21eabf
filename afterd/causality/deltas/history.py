"""Changes by the commits that made them: with what came before a commit the test was still green."""

from __future__ import annotations

from collections.abc import Sequence

from afterd.causality.deltas.dependencies import Changes
from afterd.model.change import NOTHING, ChangeId, ChangeSet, FileKind


def made_after(commits: Sequence[str], changes: Changes, root: ChangeSet) -> ChangeSet:
    """What commits changed that came after each change of a root; nothing where one's commit is not known.

    Tests are left out: a test that asks for more now did not break what it asks for.
    """
    ages = _ages(commits, changes)
    if not root <= ages.keys():
        return NOTHING
    newest = min((ages[change] for change in root), default=0)
    later = frozenset(change for change, age in ages.items() if age < newest)
    return frozenset(each for each in later if changes[each].kind is not FileKind.TEST)


def newest_commit(commits: Sequence[str], changes: Changes, root: ChangeSet) -> str:
    """The commit with which all of a root was there; empty where one's commit is not known."""
    ages = _ages(commits, changes)
    return commits[-1 - min(ages[change] for change in root)] if root <= ages.keys() else ""


def _ages(commits: Sequence[str], changes: Changes) -> dict[ChangeId, int]:
    """How many commits came after the newest one that had a hand in each change, where any is known."""
    age = {commit: number for number, commit in enumerate(reversed(commits))}
    known = {change.id: [age[c] for c in change.commits if c in age] for change in changes.values()}
    return {change: min(ages) for change, ages in known.items() if ages}
