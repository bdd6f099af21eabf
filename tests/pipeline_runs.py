"""What the end-to-end tests share: the command in this process, and real repositories."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pygit2
import pytest

from afterd.cli.boundary import run
from afterd.cli.main import afterd as group

_AUTHOR = pygit2.Signature("A. U. Thor", "author@example.org", 1_700_000_000, 0)


@dataclass(frozen=True, slots=True)
class Done:
    """How a command line ended: its exit status and what it wrote."""

    status: int
    out: str
    err: str

    def refused(self, status: int, *words: str) -> None:
        """One sentence of afterd's, the right status, no traceback."""
        said = [line for line in self.err.splitlines() if line.startswith("afterd: ")]
        assert self.status == status, self.err
        assert len(said) == 1, self.err
        assert "Traceback" not in self.err
        for word in words:
            assert word in self.err


def afterd(*arguments: str, cwd: Path, **environment: str) -> Done:
    """Run a command line in this process: the imports of a new one cost a second."""
    signals = (signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in signals}
    out, err = io.BytesIO(), io.BytesIO()
    with pytest.MonkeyPatch.context() as patched:
        for name in [name for name in os.environ if name.startswith("AFTERD_")]:
            if name != "AFTERD_CLANG":
                patched.delenv(name)
        for name, value in {"COLUMNS": "100", **environment}.items():
            patched.setenv(name, value)
        patched.chdir(cwd)
        written, said = (
            io.TextIOWrapper(stream, "utf-8", write_through=True) for stream in (out, err)
        )
        with contextlib.redirect_stdout(written), contextlib.redirect_stderr(said):
            status = run(group, arguments)
    for number, handler in handlers.items():
        signal.signal(number, handler)
    return Done(status, out.getvalue().decode(), err.getvalue().decode())


def repository(path: Path, *versions: Mapping[str, str]) -> Path:
    """A repository of one commit for each version; a version names the files it writes."""
    made = pygit2.init_repository(path, initial_head="main")
    for number, files in enumerate(versions):
        for name, content in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(content)
        made.index.add_all()
        made.index.write()
        parents = [] if made.head_is_unborn else [made.head.target]
        tree = made.index.write_tree()
        made.create_commit("HEAD", _AUTHOR, _AUTHOR, f"Version {number}\n", tree, parents)
    return path


def snapshot(path: Path) -> dict[str, tuple[int, str]]:
    """Mode and content of every file of the user's: work tree, index, refs, objects, settings."""
    state = path / ".git" / "afterd"
    return {
        str(file.relative_to(path)): (file.lstat().st_mode, _content(file))
        for file in sorted(path.rglob("*"))
        if file != state and state not in file.parents
    }


def _content(path: Path) -> str:
    if path.is_symlink():
        return str(path.readlink())
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def git(*arguments: str, cwd: Path, given: str | None = None) -> str:
    """The output of a git command that must succeed."""
    command: Sequence[str] = ("git", *arguments)
    return subprocess.run(
        command, cwd=cwd, input=given, check=True, capture_output=True, text=True
    ).stdout


def authored_git(path: Path, *arguments: str) -> str:
    """The same in ``path``, by somebody who has a name: whoever runs the tests may have none."""
    return git("-c", "user.name=A", "-c", "user.email=a@example.org", *arguments, cwd=path)


_CHECKS = """\
import ops


def check_sum():
    assert ops.{name}([1, 2]) == 3


{more}
check_sum()
"""
_MEAN = """\
def check_mean():
    assert ops.mean([1, 4]) == ops.add_up([1, 1]) + 0.5


check_mean()
"""


def checks_of_a_new_name(path: str) -> tuple[dict[str, str], dict[str, str]]:
    """A program and its checks at ``path``, good and bad: one function has another name, so that neither version passes
    the other's checks, and a check that is new finds a fault in another one.
    """
    good = "def total(xs):\n    return sum(xs)\n\n\ndef mean(xs):\n    return sum(xs) / len(xs)\n"
    bad = good.replace("total", "add_up").replace("/ len(xs)", "- len(xs)")
    return (
        {"ops.py": good, path: _CHECKS.format(name="total", more="")},
        {"ops.py": bad, path: _CHECKS.format(name="add_up", more=_MEAN)},
    )
