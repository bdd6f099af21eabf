"""What a failing test is compared with: the last commit that is known to be green for it.

Every commit that the daemon tests is on record, so the last green one is known without a search.
The commits between it and the failing one were superseded, or could not be tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

import pygit2

from afterd.daemon.known_causes import KnownCauses
from afterd.execution.recipe import Recipe
from afterd.execution.signature import names_its_test, same_failure, tells_nothing
from afterd.limits import SearchLimits
from afterd.model.outcome import FailureSignature
from afterd.store.database import Reader
from afterd.store.history import suite_record

FARTHEST = SearchLimits().revisions


@dataclass(frozen=True, slots=True)
class Base:
    """The commit to compare with: ``green`` as far as is known (None: it was never tested).

    Where it is red, ``commit`` is the oldest of the red commits that follow each other. Empty:
    there is no commit before this one. ``otherwise``: the commits after it, newest first, at which the
    test failed as well, in another way or for a reason that is undone since. ``all_green``: the nearest commit
    at which no test failed; at ``commit`` itself this one may not have been run, behind another one that failed.
    """

    commit: str
    green: bool | None
    otherwise: tuple[str, ...] = ()
    all_green: str = ""


class TestRecord:
    """What is on record of a suite at each commit: read once, asked for many tests."""

    __test__ = False  # pytest collects classes named Test*

    def __init__(
        self, reader: Reader, repository: pygit2.Repository, name: str, suite: Recipe
    ) -> None:
        self._repository = repository
        self._record = suite_record(reader, name, suite.command_digest, suite.test_id)
        self._causes = KnownCauses(reader, repository, name)

    def base(self, commit: str, failure: FailureSignature) -> Base:
        """What a test that fails at ``commit`` is compared with: the nearest commit along first
        parents at which it is known to be green, or else the parent. Where what broke it last is undone
        there, it fails for another reason than before, whatever it says.
        """
        red, parent, undone, failing = "", "", False, list[str]()
        ancestors = islice(self._ancestors(commit), FARTHEST)
        for ancestor in ancestors:
            parent = parent or ancestor
            if failure.test in self._record.red.get(ancestor, {}):
                failing.append(ancestor)
                if undone or not self._fails(ancestor, failure):
                    continue
                stands = self._causes.stands(ancestor, failure.test, commit)
                if stands:
                    return Base(ancestor, green=False)
                undone = stands is False
                red = "" if undone else ancestor
            elif self._record.is_green(ancestor, failure.test):
                passing = self._all_green(ancestor, ancestors)
                found = Base(ancestor, green=True, otherwise=tuple(failing), all_green=passing)
                return Base(red, green=False) if red else found
        found = Base(parent, green=None, otherwise=tuple(failing))
        return Base(red, green=False) if red else found

    def _all_green(self, commit: str, older: Iterator[str]) -> str:
        """The nearest of a commit and ``older`` ones at which the whole suite passed; empty: at none."""
        return next(filter(self._record.passed, chain([commit], older)), "")

    def _fails(self, commit: str, failure: FailureSignature) -> bool:
        """Whether the test, which failed there, was seen to do so in this way; where that is not known, in any."""
        seen = self._record.red[commit][failure.test]
        if seen is None:
            return True
        if tells_nothing(seen) or tells_nothing(failure):
            # What is said by name once, and of the same test is not said another time, was not so then.
            return not (names_its_test(seen) or names_its_test(failure))
        return same_failure(replace(seen, test=""), replace(failure, test=""))

    def _ancestors(self, commit: str) -> Iterator[str]:
        while parents := self._repository[commit].peel(pygit2.Commit).parent_ids:
            if parents[0] not in self._repository:
                return  # a shallow clone ends here
            commit = str(parents[0])
            yield commit
