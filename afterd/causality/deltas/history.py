"""Changes by the commits that made them: what stood together once builds, whatever the code looks like."""

from __future__ import annotations

from collections.abc import Sequence

from afterd.causality.deltas.dependencies import Changes
from afterd.model.change import NOTHING, ChangeSet


def since_each(commits: Sequence[str], changes: Changes) -> list[ChangeSet]:
    """What the newest commit changed, the newest two, …, all but the oldest one: without it the program is
    as it was between two commits.

    A change that several commits had a hand in counts as the newest one's; one that no commit is known to
    have made is in no set. ``commits`` are the oldest first.
    """
    age = {commit: number for number, commit in enumerate(reversed(commits))}
    made: dict[int, set[str]] = {}
    for change in changes.values():
        ages = [age[commit] for commit in change.commits if commit in age]
        if ages:
            made.setdefault(min(ages), set()).add(change.id)
    sets: list[ChangeSet] = []
    for number in sorted(made):
        sets.append((sets[-1] if sets else NOTHING) | made[number])
    return sets[:-1]
