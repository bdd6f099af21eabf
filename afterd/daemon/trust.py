"""Where a commit came from decides whether its tests run without being asked for.

It is decided when a commit is first seen, from the repository's own records and never from what the
commit says of itself: an author's or committer's name can be anybody's. A commit was made here if a
reflog says so (git writes it, no remote can); a collaborator's lies below a trusted ref. All others
wait until a person approves that very commit (reliability, sections 2 and 4).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

import pygit2

from afterd.config import Settings
from afterd.vcs.repository import common_directory


class Trust(StrEnum):
    """Where a commit came from."""

    LOCAL = "made here"
    COLLABORATOR = "on a trusted ref"
    UNKNOWN = "an unknown author"
    FORK = "an unknown origin"
    APPROVED = "approved"


RUNS = frozenset({Trust.LOCAL, Trust.COLLABORATOR, Trust.APPROVED})
"""What runs without asking a person."""

# Pull requests that a refspec puts among a remote's branches: refs/remotes/origin/pr/7.
_REQUEST = re.compile(r"/(pr|prs|pull|pulls|mr|merge-requests|changes)/")
# A reflog's message when git itself made the commit; not a checkout, a fetch, a fast-forward.
_MADE = re.compile(
    rb"(?:commit(?: \([\w-]+\))?|cherry-pick|revert|am|rebase(?: -i)?"
    rb"(?: \((?:pick|reword|edit|squash|fixup|continue)\))?): (?!fast-forward)"
    rb"|(?:merge|pull)[^:]*: Merge made "
)
_ENTRY = re.compile(rb"[0-9a-f]{40} (?P<new>[0-9a-f]{40}) [^\t\n]*\t(?P<message>.*)")
_TAIL = 1 << 20  # bytes of a reflog that are read


class Origins:
    """What a repository's records say of where its commits came from; ``tips`` are its refs now."""

    def __init__(
        self, repository: pygit2.Repository, tips: Mapping[str, str], settings: Settings
    ) -> None:
        self._repository = repository
        self._made = made_here(repository)
        self._trusted = {
            tip for ref, tip in tips.items() if is_trusted(ref, repository.is_bare, settings)
        }
        self._known = {address.lower() for address in settings.trusted_authors}

    def trust(self, commit: str) -> Trust:
        """How far a commit is trusted."""
        if commit in self._made:
            return Trust.LOCAL
        if commit not in self._trusted and not any(
            self._repository.descendant_of(tip, commit) for tip in self._trusted
        ):
            return Trust.FORK
        if self._known and not _people(self._repository, commit) <= self._known:
            return Trust.UNKNOWN
        return Trust.COLLABORATOR


def is_trusted(ref: str, bare: bool, settings: Settings) -> bool:  # noqa: FBT001 - a property of the repository
    """Whether commits on a ref are trusted.

    Without a setting: in a bare repository its branches, because only collaborators can push to
    them; elsewhere those of the remote ``origin``, but no pull requests among them. A local branch
    says nothing: ``gh pr checkout`` makes one of anybody's commits.
    """
    if settings.trusted:
        return matches(ref, settings.trusted)
    default = "refs/heads/*" if bare else "refs/remotes/origin/*"
    return fnmatchcase(ref, default) and not _REQUEST.search(ref)


def matches(ref: str, globs: Collection[str]) -> bool:
    """Whether a ref's full name is matched by one of several globs; ``*`` also matches slashes."""
    return any(fnmatchcase(ref, glob) for glob in globs)


def made_here(repository: pygit2.Repository) -> frozenset[str]:
    """The commits that were made in this repository or its worktrees, as far as reflogs go."""
    return frozenset(new for path in _reflogs(repository) for new in _made(path))


def _reflogs(repository: pygit2.Repository) -> Iterator[Path]:
    common = common_directory(repository)
    yield common / "logs" / "HEAD"
    yield from common.glob("worktrees/*/logs/HEAD")


def _made(reflog: Path) -> Iterator[str]:
    with suppress(OSError), reflog.open("rb") as file:
        file.seek(max(0, reflog.stat().st_size - _TAIL))
        for line in file:
            entry = _ENTRY.match(line)
            if entry is not None and _MADE.match(entry["message"]):
                yield entry["new"].decode()


def _people(repository: pygit2.Repository, commit: str) -> set[str]:
    found = repository[commit].peel(pygit2.Commit)
    return {person.email.lower() for person in (found.author, found.committer)}
