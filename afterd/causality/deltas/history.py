"""Changes by the commits that made them: what stood together once builds, whatever the code looks like."""

from __future__ import annotations

from collections.abc import Sequence

from afterd.causality.deltas.dependencies import Changes
from afterd.model.change import NOTHING, ChangeId, ChangeSet, FileKind


def since_each(commits: Sequence[str], changes: Changes) -> list[ChangeSet]:
    """What the newest commit changed, the newest two, …, all but the oldest one: without it the program is
    as it was between two commits.

    A change that several commits had a hand in counts as the newest one's; one that no commit is known to
    have made is in no set. ``commits`` are the oldest first.
    """
    made: dict[int, set[ChangeId]] = {}
    for change, age in _ages(commits, changes).items():
        made.setdefault(age, set()).add(change)
    sets: list[ChangeSet] = []
    for number in sorted(made):
        sets.append((sets[-1] if sets else NOTHING) | made[number])
    return sets[:-1]


def made_after(commits: Sequence[str], changes: Changes, root: ChangeSet) -> ChangeSet:
    """What commits changed that came after each change of a root; nothing where one's commit is not known.

    Tests are left out: a test that asks for more now did not break what it asks for (godotenv).
    """
    ages = _ages(commits, changes)
    if not root <= ages.keys():
        return NOTHING
    newest = min((ages[change] for change in root), default=0)
    later = frozenset(change for change, age in ages.items() if age < newest)
    return frozenset(each for each in later if changes[each].kind is not FileKind.TEST)


def _ages(commits: Sequence[str], changes: Changes) -> dict[ChangeId, int]:
    """How many commits came after the newest one that had a hand in each change, where any is known."""
    age = {commit: number for number, commit in enumerate(reversed(commits))}
    known = {change.id: [age[c] for c in change.commits if c in age] for change in changes.values()}
    return {change: min(ages) for change, ages in known.items() if ages}
