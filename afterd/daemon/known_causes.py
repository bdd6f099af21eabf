"""Does what broke a test at one commit stand in another one still?

Two failures that say the same may have two causes: a commit that mends the first and breaks the same assertion by
another line leaves the test red, and nothing in what it says tells that from a test that was never mended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache

import pygit2

from afterd.model.change import Change
from afterd.report.verdicts import VerdictKind
from afterd.store.database import Reader
from afterd.store.explanations import root_of
from afterd.store.verdicts import verdicts_at


class KnownCauses:
    """The guilty changes of the verdicts on record."""

    def __init__(self, reader: Reader, repository: pygit2.Repository, name: str) -> None:
        self._reader = reader
        self._repository = repository
        self._name = name
        self._explanations = cache(self._explained_at)
        self._lines = cache(self._lines_in)

    def stands(self, broken: str, test: str, commit: str) -> bool | None:
        """Whether a guilty change of what broke ``test`` at ``broken`` stands in ``commit``; None: none is on record.

        A change is undone where its file has each line that it put in as many times less, and each that it took away as
        many times more, than where it broke the test: the next function may have the same line. A line that was altered
        again, a file that is gone or was moved, and a change of something that has no lines stand.
        """
        explanation = self._explanations(broken).get(test)
        root = root_of(self._reader, explanation) if explanation else ()
        return any(not self._is_undone(change, broken, commit) for change in root) if root else None

    def _explained_at(self, commit: str) -> Mapping[str, int]:
        """By test, the explanation of what broke it there: read once a commit, and asked for many tests."""
        return {
            verdict.test: verdict.explanation_id
            for verdict in verdicts_at(self._reader, self._name, commit)
            if verdict.kind == VerdictKind.CAUSED and verdict.explanation_id
        }

    def _is_undone(self, change: Change, broken: str, commit: str) -> bool:
        then, now = (self._lines(each, change.file) for each in (broken, commit))
        if then is None or now is None:
            return False
        added, removed = (_told_lines(change, sign) for sign in "+-")
        fewer, more = added - removed, removed - added
        return (
            bool(fewer or more)
            and all(now[line] <= then[line] - times for line, times in fewer.items())
            and all(now[line] >= then[line] + times for line, times in more.items())
        )

    def _lines_in(self, commit: str, file: str) -> Counter[str] | None:
        """How often each line stands in a file of a commit, without indentation; None where it is no file there. Read
        once, and asked for many tests.
        """
        try:
            blob = self._repository[commit].peel(pygit2.Tree)[file]
        except KeyError:
            return None
        if not isinstance(blob, pygit2.Blob):
            return None
        text = blob.data.decode(errors="surrogateescape")
        return Counter(line.strip() for line in text.splitlines())


def _told_lines(change: Change, sign: str) -> Counter[str]:
    """The lines of a change that say something, without indentation."""
    stripped = (line.strip() for line in change.lines(sign))
    return Counter(line for line in stripped if any(map(str.isalnum, line)))
