"""What the commits say that an explanation names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pygit2

from afterd.errors import AfterdError
from afterd.model.explanation import Explanation
from afterd.vcs.repository import open_repository


def subjects(repository: Path, explanation: Explanation) -> Mapping[str, str]:
    """The first line of the message of each commit that an explanation names, where it is known."""
    opened = open_repository(repository)
    named = {c for change in (*explanation.root, *explanation.auxiliary) for c in change.commits}
    found: dict[str, str] = {}
    for commit in sorted(named):
        with suppress(pygit2.GitError, KeyError, ValueError):  # rewritten history, a shallow clone
            message = opened[commit].peel(pygit2.Commit).message
            found[commit] = message.split("\n", 1)[0]
    return found


def bad_version(
    repository: Path, explanations: Sequence[Explanation]
) -> Callable[[str], Sequence[str]]:
    """Reads the lines of a file as they are in the bad version; none where it has no such text."""
    commits = {explanation.range.bad for explanation in explanations}

    def lines(file: str) -> Sequence[str]:
        if len(commits) != 1:
            return ()
        try:
            found = open_repository(repository)[next(iter(commits))].peel(pygit2.Tree)[file]
        except (AfterdError, pygit2.GitError, KeyError, ValueError):  # not kept, or no commit
            return ()
        return (
            found.data.decode(errors="replace").split("\n")
            if isinstance(found, pygit2.Blob)
            else ()
        )

    return lines
