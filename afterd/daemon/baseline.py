"""What a failing test is compared with: the last commit that is known to be green for it.

Every commit that the daemon tests is on record, so the last green one is known without a search.
The commits between it and the failing one were superseded, or could not be tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import pygit2

from afterd.limits import SearchLimits
from afterd.model.outcome import Verdict
from afterd.store.database import Reader
from afterd.store.history import red_at, tested_commits

FARTHEST = SearchLimits().revisions


@dataclass(frozen=True, slots=True)
class Base:
    """The commit to compare with: ``green`` as far as is known (None: it was never tested).

    Where it is red, ``commit`` is the oldest of the red commits that follow each other. Empty:
    there is no commit before this one.
    """

    commit: str
    green: bool | None


class TestRecord:
    """What is on record of a suite at each commit: read once, asked for many tests."""

    __test__ = False  # pytest collects classes named Test*

    def __init__(
        self, reader: Reader, repository: pygit2.Repository, name: str, command: str
    ) -> None:
        self._repository = repository
        self._tested: Mapping[str, Verdict] = tested_commits(reader, name, command)
        self._red = red_at(reader, name, command)

    def base(self, commit: str, test: str) -> Base:
        """What ``test``, which fails at ``commit``, is compared with: the nearest tested commit
        along first parents, or else the parent.
        """
        red, parent = "", ""
        for ancestor in islice(self._ancestors(commit), FARTHEST):
            parent = parent or ancestor
            if test in self._red.get(ancestor, ()):
                red = ancestor
            elif self._tested.get(ancestor, Verdict.UNRESOLVED) is not Verdict.UNRESOLVED:
                return Base(red, green=False) if red else Base(ancestor, green=True)
        return Base(red, green=False) if red else Base(parent, green=None)

    def _ancestors(self, commit: str) -> Iterator[str]:
        while parents := self._repository[commit].peel(pygit2.Commit).parent_ids:
            if parents[0] not in self._repository:
                return  # a shallow clone ends here
            commit = str(parents[0])
            yield commit
