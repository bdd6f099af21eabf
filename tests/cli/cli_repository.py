"""The command as a user runs it, and a small repository whose last commit broke its test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import pygit2

GOOD = {"text.txt": "one\ntwo\nthree\n", "other.txt": "a\n"}
BAD = {"text.txt": "one\ntwo\nbroken\n", "other.txt": "b\n", "new.txt": "n\n"}
TEST = ("sh", "-c", "grep -q three text.txt || { echo three is missing; exit 1; }")
_AUTHOR = pygit2.Signature("A. U. Thor", "author@example.org", 1_700_000_000, 0)


def commit(repository: pygit2.Repository, files: dict[str, str], message: str) -> str:
    for name, content in files.items():
        (Path(repository.workdir) / name).write_text(content)
    repository.index.add_all()
    repository.index.write()
    parents = [] if repository.head_is_unborn else [repository.head.target]
    tree = repository.index.write_tree()
    return str(repository.create_commit("HEAD", _AUTHOR, _AUTHOR, message, tree, parents))


Done = subprocess.CompletedProcess[str]


class Run(Protocol):
    """Runs the command in a folder, in this process: imports cost a second each time."""

    def __call__(self, *arguments: str, cwd: Path | None = None, **environment: str) -> Done: ...


def afterd_process(*arguments: str, cwd: Path | None = None, **environment: str) -> Done:
    """Run the command as a user does; the user's own AFTERD_ variables are not there."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("AFTERD_")
    }
    return subprocess.run(
        [sys.executable, "-m", "afterd", *arguments],
        cwd=cwd,
        env={**inherited, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )


def refused(done: Done, status: int, words: Sequence[str]) -> None:
    """One sentence, the right status, no traceback."""
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def make_repository(path: Path) -> Path:
    repository = pygit2.init_repository(path, initial_head="main")
    commit(repository, GOOD, "All is well\n")
    commit(repository, BAD, "Tidy up\n\nAnd more.\n")
    return path
