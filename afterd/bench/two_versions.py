"""A repository of two commits, made of files in memory."""

from __future__ import annotations

from pathlib import Path

import pygit2

from afterd.bench.archive import Files
from afterd.vcs.paths import path_bytes
from afterd.vcs.trees import EMPTY_TREE, Entry, TreeEditor, TreeReader

_SIGNATURE = pygit2.Signature("afterd bench", "bench@afterd.invalid", 1_700_000_000, 0)


def commit_two(
    directory: Path, good: Files, bad: Files, subjects: tuple[str, str]
) -> tuple[str, str]:
    """Commit two versions on top of each other in a new repository; the ids of the commits.

    Nothing is checked out: afterd works in slots of its own.
    """
    repository = pygit2.init_repository(directory, initial_head="main")
    first = _commit(repository, subjects[0], good)
    return first, _commit(repository, subjects[1], bad, first)


def _commit(repository: pygit2.Repository, subject: str, files: Files, *parents: str) -> str:
    tree = pygit2.Oid(hex=_stored(repository, files))
    oids = [pygit2.Oid(hex=parent) for parent in parents]
    commit = repository.create_commit(
        "HEAD", _SIGNATURE, _SIGNATURE, f"{subject}\n", tree, list(oids)
    )
    return str(commit)


def _stored(repository: pygit2.Repository, files: Files) -> str:
    editor = TreeEditor(TreeReader(repository), EMPTY_TREE)
    for path, file in files.items():
        editor.put(path_bytes(path), Entry(file.mode, str(repository.create_blob(file.content))))
    return editor.write()
