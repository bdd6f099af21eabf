"""Where a commit came from decides whether its tests run without being asked for.

It is decided when a commit is first seen, from the repository's own records and never from what the
commit says of itself alone: an author's or committer's name can be anybody's. A commit was made here if
a reflog of HEAD has the entry that made it (git writes it, no remote can); a collaborator's lies below a
trusted ref. All others
wait until a person approves that very commit (reliability, sections 2 and 4).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
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
"""What runs without asking a person, or after."""

OWN = frozenset({Trust.LOCAL, Trust.COLLABORATOR})
"""What runs without asking a person."""

# Pull requests that a refspec puts among a remote's branches: refs/remotes/origin/pr/7.
_REQUEST = re.compile(r"/(pr|prs|pull|pulls|mr|merge-requests|changes)/")
# What git writes, behind whatever a tool has it call the action, when HEAD goes to a commit that is
# there already. A commit's own subject comes last, and may say what it likes.
_MOVED = re.compile(
    rb"(?:checkout: moving from |reset: moving to |clone: from |Branch: )"
    rb"|[^:]*\((?:start|finish|abort)\): |(?i:.*: fast-forward$)|.*: (?:updating HEAD|returning to )"
)
_ENTRY = re.compile(
    rb"(?P<old>[0-9a-f]{40}) (?P<new>[0-9a-f]{40}) [^<\t\n]*<(?P<email>[^>\n]*)> (?P<time>\d+)"
    rb" [^\t\n]*(?:\t(?P<message>.*))?"
)
_NOTHING = b"0" * 40
_CLOCK = 2.0  # seconds between a commit's time and that of the file it is written into
_TAIL = 1 << 20  # bytes of a reflog that are read


class Origins:
    """What a repository's records say of where its commits came from; ``tips`` are its refs now."""

    def __init__(
        self, repository: pygit2.Repository, tips: Mapping[str, str], settings: Settings
    ) -> None:
        self._repository = repository
        self._entries = entries_of(repository)
        self._trusted = {
            tip for ref, tip in tips.items() if is_trusted(ref, repository.is_bare, settings)
        }
        self._known = {address.lower() for address in settings.trusted_authors}

    def trust(self, commit: str) -> Trust:
        """How far a commit is trusted."""
        if any(
            _entry_made_commit(self._repository, entry) for entry in self._entries.get(commit, ())
        ):
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


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a HEAD's reflog: who had HEAD go from ``old`` to ``new``, and when (Unix time)."""

    old: bytes
    new: str
    email: bytes
    time: int
    message: bytes


def entries_of(repository: pygit2.Repository) -> Mapping[str, Sequence[Entry]]:
    """How HEAD came to its commits, in the repository and its worktrees, as far as reflogs go."""
    found: dict[str, list[Entry]] = defaultdict(list)
    for path in _reflogs(repository):
        for entry in _entries(path):
            found[entry.new].append(entry)
    return found


def _reflogs(repository: pygit2.Repository) -> Iterator[Path]:
    common = common_directory(repository)
    yield common / "logs" / "HEAD"
    yield from common.glob("worktrees/*/logs/HEAD")


def _entries(reflog: Path) -> Iterator[Entry]:
    with suppress(OSError), reflog.open("rb") as file:
        file.seek(max(0, reflog.stat().st_size - _TAIL))
        for line in file:
            if found := _ENTRY.match(line.rstrip(b"\n")):
                message = found["message"] or b""
                moment = int(found["time"][:12])
                new = found["new"].decode()
                yield Entry(found["old"], new, found["email"], moment, message)


def _entry_made_commit(repository: pygit2.Repository, entry: Entry) -> bool:
    """Whether this entry made its commit: it did not go to one that was there, the committer is who
    wrote the entry, and when it was committed, or what its subject is, fits too.

    A stranger can write our name under a commit, but not what our git writes, nor when.
    """
    try:
        commit = repository[entry.new].peel(pygit2.Commit)
    except (KeyError, ValueError, pygit2.GitError):
        return False
    if _MOVED.match(entry.message) or (entry.old == _NOTHING and commit.parent_ids):
        return False
    if commit.committer.raw_email.lower() != entry.email.lower():
        return False
    subject = commit.raw_message.split(b"\n\n")[0].replace(b"\n", b" ").strip()
    told = subject and entry.message.endswith(b": " + subject)
    return (
        bool(told)
        or commit.commit_time == entry.time
        or _written_when_committed(commit, repository)
    )


def _written_when_committed(commit: pygit2.Commit, repository: pygit2.Repository) -> bool:
    """Whether the object's file is as old as the commit says of itself: jj moves HEAD later."""
    name = str(commit.id)
    path = common_directory(repository) / "objects" / name[:2] / name[2:]
    with suppress(OSError):
        return abs(path.stat().st_mtime - commit.commit_time) <= _CLOCK
    return False


def _people(repository: pygit2.Repository, commit: str) -> set[str]:
    found = repository[commit].peel(pygit2.Commit)
    return {person.email.lower() for person in (found.author, found.committer)}
