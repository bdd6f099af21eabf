"""Opening repositories safely, and reading revisions and ranges from what a user typed.

pygit2 reads no ``GIT_DIR`` or ``GIT_INDEX_FILE`` (a hook exports both, and git inside another
repository then writes the user's index: reliability.md, finding 1), starts no ``core.fsmonitor``,
``diff.external``, textconv or filter program, and checks who owns the repository.
"""

from __future__ import annotations

import re
from pathlib import Path

import pygit2
from pygit2.enums import Option

from afterd.errors import RepositoryError
from afterd.model.explanation import RevisionRange
from afterd.vcs.state import made_state

_ANCESTOR = re.compile(r".+?([~^]\d*)+")


def open_repository(path: Path) -> pygit2.Repository:
    """The repository that ``path`` is in: the one way afterd opens repositories.

    Looks upward from ``path``; linked worktrees, submodules and bare repositories are fine. Raises
    RepositoryError: no repository, somebody else's ("dubious ownership"), or a format that libgit2
    cannot read. Owner validation stays on, whatever another library did (CVE-2022-24765).
    """
    pygit2.option(Option.SET_OWNER_VALIDATION, True)  # noqa: FBT003 - libgit2's own signature
    try:
        found = pygit2.discover_repository(str(path))
        if found is None:
            raise RepositoryError(
                f"{path} is not in a git repository. Name one with --repository, or run git init."
            )
        return pygit2.Repository(found)
    except (pygit2.GitError, KeyError, UnicodeEncodeError) as error:
        raise RepositoryError(_why_not_opened(path, str(error))) from error


def common_directory(repository: pygit2.Repository) -> Path:
    """The ``.git`` directory that all worktrees of a repository share."""
    assert repository.path is not None
    git_directory = Path(repository.path)
    pointer = git_directory / "commondir"
    shared = pointer.read_text().rstrip("\n") if pointer.is_file() else "."
    return (git_directory / shared).resolve()


def state_directory(repository: pygit2.Repository) -> Path:
    """``<git-common-dir>/afterd``, made when it is not there; raises as ``made_state`` does."""
    return made_state(common_directory(repository))


def resolve(repository: pygit2.Repository, text: str) -> str:
    """The full id of the commit that ``text`` names, as git spells revisions.

    Raises RepositoryError for anything that is no commit here, and says so when the clone is
    shallow, because the commit may exist where it was cloned from.
    """
    try:
        commit = repository.revparse_single(text).peel(pygit2.Commit)
        _ = commit.tree
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise RepositoryError(_why_unknown(repository, text)) from error
    return str(commit.id)


def parse_range(
    repository: pygit2.Repository, text: str | None, good: str | None = None
) -> RevisionRange:
    """The range a user means.

    ``A..B``; ``A...B``, whose left end is the merge base; ``REV`` alone, which is its first parent
    to itself; nothing, which is ``HEAD~1..HEAD``. An end left out is HEAD. ``good`` replaces the
    left end. Raises RepositoryError: an unknown revision, no parent, no merge base, or an empty
    range (the same commit, or two with the same tree).
    """
    separator = next((dots for dots in ("...", "..") if dots in (text or "")), "")
    left, _, right = (
        (text or "HEAD").partition(separator) if separator else ("", "", text or "HEAD")
    )
    bad = resolve(repository, right or "HEAD")
    if good:
        start = resolve(repository, good)
    elif not separator:
        start = _first_parent(repository, bad)
    else:
        start = resolve(repository, left or "HEAD")
    if separator == "..." and not good:
        start = _merge_base(repository, start, bad)
    if repository[start].peel(pygit2.Tree).id == repository[bad].peel(pygit2.Tree).id:
        raise RepositoryError(
            f"The range {start[:12]}..{bad[:12]} is empty: its two ends have the same files. "
            "Name an older good revision (--good REV)."
        )
    return RevisionRange(start, bad)


def _first_parent(repository: pygit2.Repository, commit: str) -> str:
    parents = repository[commit].peel(pygit2.Commit).parent_ids
    if not parents:
        why = "the clone is shallow and ends there" if repository.is_shallow else "it is the first"
        raise RepositoryError(
            f"The commit {commit[:12]} has no parent to compare with: {why}. "
            "Name a good revision (--good REV)."
        )
    try:
        return resolve(repository, str(parents[0]))
    except RepositoryError:
        raise RepositoryError(_why_unknown(repository, f"{commit[:12]}^")) from None


def _merge_base(repository: pygit2.Repository, one: str, other: str) -> str:
    base = repository.merge_base(one, other)
    if base is None:
        raise RepositoryError(
            f"{one[:12]} and {other[:12]} have no common ancestor here. Write A..B, not A...B."
        )
    return str(base)


def _why_not_opened(path: Path, error: str) -> str:
    if "not owned by current user" in error:
        return (
            f"The repository at {path} belongs to another user (git calls this dubious ownership). "
            "If you trust it: git config --global --add safe.directory PATH."
        )
    return f"The repository at {path} cannot be opened: {error}."


def _why_unknown(repository: pygit2.Repository, text: str) -> str:
    if repository.is_empty or (repository.head_is_unborn and "HEAD" in text):
        return "The repository has no commits yet, so there is nothing to compare."
    sentence = f"The revision {text!r} is not a commit in this repository."
    if repository.is_shallow:
        return f"{sentence} The clone is shallow: git fetch --unshallow may bring it."
    if _ANCESTOR.fullmatch(text):
        return f"{sentence} The history may not go back so far: name a good revision (--good REV)."
    return f"{sentence} Check its spelling, or fetch it."
