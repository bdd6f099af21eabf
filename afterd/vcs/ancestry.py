"""Which commit of a range tells most: the one with half of the guilt among its ancestors.

A merged branch is halved with all others, as by ``git bisect``: along first parents alone, a guilty commit of a
branch is looked for twice, first its merge and then the commit itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pygit2
from numpy.typing import NDArray
from pygit2.enums import SortMode

from afterd.model.change import CommitGuilt

Members = NDArray[np.bool_]
"""For each commit of an ancestry, whether it is one of some."""


@dataclass(frozen=True, slots=True)
class Ancestry:
    """Commits, parents before their children. ``reached``: row by row, the ancestors of each, and it itself;
    ``later``: those that come from the commit at which the range begins; ``weights``: how likely each is guilty.
    """

    names: Sequence[str]
    reached: NDArray[np.bool_]
    later: Members
    weights: NDArray[np.float64]

    def all_of(self, commit: str) -> Members:
        """A commit's ancestors among these, and it itself."""
        members: Members = self.reached[self.names.index(commit)].copy()
        return members

    def by_what_they_tell(self, candidates: Members, red: str) -> Iterator[str]:
        """The commits to ask where one of the ``candidates`` turned the test red and ``red`` is the last of them: first
        that on either side of which about as much weighs, of equal ones the nearest to what weighs.

        Only such as come from where the range begins: another one may be red for what was repaired there.
        """
        asked = candidates & self.later
        asked[self.names.index(red)] = False
        places = np.flatnonzero(asked)
        inside = self.reached[np.ix_(places, np.flatnonzero(candidates))]
        weights = self.weights[candidates]
        upto = np.round(2 * inside @ weights - weights.sum(), 9)
        many = inside.sum(axis=1)
        order = np.lexsort((np.where(upto < 0, -many, many), abs(upto)))
        return (self.names[places[at]] for at in order)


def ancestry(
    repository: pygit2.Repository, good: str, bad: str, guilt: CommitGuilt, most: int
) -> Ancestry | None:
    """What ``bad`` has and ``good`` has not, by ``guilt`` (none: all alike); None for more commits than ``most``."""
    walker = repository.walk(bad, SortMode.TOPOLOGICAL | SortMode.REVERSE)
    walker.hide(good)
    commits: list[pygit2.Commit] = []
    for commit in walker:
        if len(commits) == most:
            return None
        commits.append(commit)
    places = {str(commit.id): place for place, commit in enumerate(commits)}
    reached = np.eye(len(commits), dtype=np.bool_)
    later = np.zeros(len(commits), dtype=np.bool_)
    for place, commit in enumerate(commits):
        parents = [str(parent) for parent in commit.parent_ids]
        inside = [places[parent] for parent in parents if parent in places]
        reached[place] |= reached[inside].any(axis=0)
        later[place] = good in parents or bool(later[inside].any())
    weights = np.array([guilt.get(name, 0.0) if guilt else 1.0 for name in places])
    return Ancestry(list(places), reached, later, weights)
