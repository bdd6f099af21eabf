"""Changes by the commits that made them: with what came before a commit the test was still green."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

from afterd.causality.deltas.dependencies import Changes
from afterd.model.change import NOTHING, ChangeId, ChangeSet, FileKind
from afterd.weights import ODDS


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


def commit_guilt(
    commits: Sequence[str], changes: Changes, guilt: Mapping[ChangeId, float], executed: ChangeSet
) -> dict[str, float]:
    """How likely each commit is to have turned the test red; the sum is 1.

    What is likely of a change goes to the commits that made it. What is then left (``guilt`` sums to less than 1)
    is the others': most of it evenly those' that changed what the failing run executed, however few they are.
    """
    known = frozenset(commits)
    ran = known.intersection(
        name for change in executed & changes.keys() for name in changes[change].commits
    )
    idle = known - ran
    shares = {True: ODDS.ran if idle else 1.0, False: 1.0 - ODDS.ran if ran else 1.0}
    rest = {name: shares[name in ran] / len(ran if name in ran else idle) for name in commits}
    left = max(0.0, 1.0 - sum(guilt.values()))
    likely = {name: left * weight for name, weight in rest.items()}
    for change, chance in guilt.items():
        makers = [name for name in changes[change].commits if name in known]
        for name in makers:
            likely[name] += chance / len(makers)
    whole = sum(likely.values())
    return {name: chance / whole for name, chance in likely.items()} if whole else rest


def uncertainty(guilt: Mapping[str, float]) -> float:
    """In bits: as many runs of commits' versions tell which it is, or a few more (Shannon)."""
    return -sum(chance * log2(chance) for chance in guilt.values() if chance > 0.0)


def _ages(commits: Sequence[str], changes: Changes) -> dict[ChangeId, int]:
    """How many commits came after the newest one that had a hand in each change, where any is known."""
    age = {commit: number for number, commit in enumerate(reversed(commits))}
    known = {change.id: [age[c] for c in change.commits if c in age] for change in changes.values()}
    return {change: min(ages) for change, ages in known.items() if ages}
