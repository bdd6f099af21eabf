"""A queue of jobs for the daemon: a bare repository with a branch for each of them.

Branches of a bare repository are pushes of collaborators: their tests run without approval. Every
kind of verdict is among them but a flaky one, whose answer is not the same twice.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pygit2

_AUTHOR = pygit2.Signature("A. U. Thor", "author@example.org", 1_700_000_000, 0)
_LIBRARY = (
    "def total(a, b):\n    result = a + b\n    return result\n\n\ndef twice(a):\n    return 2 * a\n"
)
# The log of runs is written first: what is killed has been counted.
_CHECK = """\
import os

with open(os.environ["RUNS_OF_BENCH"], "a") as log:
    log.write("run\\n")

from library import total, twice

assert total(2, 3) == 5
assert twice(2) == 4
"""
_BASE = {"library.py": _LIBRARY, "check.py": _CHECK, "words.txt": "one\ntwo\nthree\n"}
_KINDS = (
    {"words.txt": "one\n2\nthree\n"},  # nothing fails
    {"library.py": _LIBRARY.replace("a + b", "a - b"), "words.txt": "one\n2\n3\n"},
    {"library.py": _LIBRARY.replace("2 * a", "3 * a").replace("result", "answer")},
    {"library.py": _LIBRARY.replace("return result", "return result +")},  # does not compile
)

TEST = (sys.executable, "check.py")
VARIABLE = "RUNS_OF_BENCH"


def make_base(path: Path) -> str:
    """The repository with its one good commit, and a remote at a forge that nobody talks to."""
    repository = pygit2.init_repository(path, bare=True, initial_head="main")
    repository.remotes.create("origin", "https://github.com/example/bench")
    return _commit(repository, "refs/heads/main", _BASE, [])


def push(path: Path, number: int) -> None:
    """The ``number``-th branch appears, with one commit on top of the good one."""
    repository = pygit2.Repository(path)
    good = str(repository.references["refs/heads/main"].target)
    files = _BASE | _KINDS[number % len(_KINDS)] | {"number.txt": f"{number}\n"}
    _commit(repository, f"refs/heads/topic-{number}", files, [good])


def _commit(
    repository: pygit2.Repository, ref: str, files: dict[str, str], parents: list[str]
) -> str:
    builder = repository.TreeBuilder()
    for name, content in files.items():
        blob = repository.create_blob(content.encode())
        builder.insert(name, blob, pygit2.enums.FileMode.BLOB)
    tree = builder.write()
    return str(
        repository.create_commit(
            ref, _AUTHOR, _AUTHOR, f"{ref}\n", tree, [pygit2.Oid(hex=each) for each in parents]
        )
    )
