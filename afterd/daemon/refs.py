"""The watched refs, the hook's inbox, and which commits of them are news."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pygit2

from afterd.config import Settings
from afterd.daemon.trust import matches
from afterd.vcs.hook import inbox
from afterd.vcs.repository import common_directory

_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Arrival:
    """A commit that is news: the tip of a ref, or of a worktree's detached HEAD (``ref`` is HEAD
    then).
    """

    commit: str
    ref: str


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen at one look: where the refs are, what is news, and which drops are dealt with.

    A drop of a commit that a rebase under way made stays until the rebase is over.
    """

    tips: Mapping[str, str]
    arrivals: tuple[Arrival, ...]
    drops: tuple[Path, ...]


def look(repository: pygit2.Repository, known: Mapping[str, str], settings: Settings) -> Look:
    """Compare refs and inbox with the refs as they were ``known``."""
    dropped = {path.name: path for path in _drops(inbox(repository))}  # before the refs are read
    tips = watched_tips(repository, settings)
    moved = {ref: tip for ref, tip in tips.items() if known.get(ref) != tip}
    arrivals = [Arrival(tip, ref) for ref, tip in moved.items()]
    rebasing = _rebasing(repository)
    arrivals += [
        Arrival(commit, "HEAD")
        for commit in _detached_heads(repository)
        if commit in dropped and commit not in tips.values() and not rebasing
    ]
    finished = [path for name, path in dropped.items() if not rebasing or name in tips.values()]
    return Look(tips, tuple(arrivals), tuple(finished))


def watched_tips(repository: pygit2.Repository, settings: Settings) -> dict[str, str]:
    """The commit of each watched ref; symbolic refs and refs to anything else are left out."""
    tips = {}
    for raw in repository.raw_listall_references():
        with suppress(UnicodeDecodeError, pygit2.GitError, KeyError, ValueError):
            name = raw.decode()
            if not matches(name, settings.watch):
                continue
            target = repository.references[name].target
            if isinstance(target, pygit2.Oid):
                tips[name] = str(repository[target].peel(pygit2.Commit).id)
    return tips


def heads(repository: pygit2.Repository) -> Iterator[tuple[Path, str]]:
    """The git directory of each worktree and the text of its HEAD."""
    common = common_directory(repository)
    for folder in (common, *common.glob("worktrees/*")):
        with suppress(OSError):
            yield folder, (folder / "HEAD").read_text().strip()


def _detached_heads(repository: pygit2.Repository) -> list[str]:
    return [head for _, head in heads(repository) if _COMMIT.fullmatch(head)]


def _rebasing(repository: pygit2.Repository) -> bool:
    """Whether any worktree is in the middle of a rebase, whose commits are not what is wanted."""
    names = ("rebase-merge", "rebase-apply")
    return any((folder / name).exists() for folder, _ in heads(repository) for name in names)


def _drops(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.iterdir())
