"""A program built and tested without afterd: plain make, plain pytest, plain git.

What an answer says is compared with this, so nothing of it comes from what is measured but the sandbox,
which ends what hangs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from afterd.bench.budgets import SOAK
from afterd.config import shell
from afterd.errors import RepositoryError
from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command, Ending
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits

_LIMITS = ProcessLimits(timeout=SOAK.test, starved=SOAK.starved)
_BUILDING = ProcessLimits(timeout=SOAK.build)
_GIT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{f"GIT_{role}_NAME": "A Developer" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "developer@example.org" for role in ("AUTHOR", "COMMITTER")},
}


class Seen(StrEnum):
    """What a test showed."""

    GREEN = "passes"
    RED = "fails"
    NOTHING = "cannot be built, or does not end"


@dataclass(frozen=True, slots=True)
class Plain:
    """A work tree at ``path`` with the commands that build (empty: nothing to build) and test it."""

    path: Path
    build: Sequence[str]
    test: Sequence[str]

    @classmethod
    def of_lines(cls, path: Path, build: str, test: str) -> Plain:
        """With commands as they are written in a shell."""
        return cls(path, *(shell(line) if line else () for line in (build, test)))

    def seen(self) -> Seen:
        """Build what is there and test it once."""
        if self.build and _status(self.build, self.path, _BUILDING) != 0:
            return Seen.NOTHING
        status = _status(self.test, self.path, _LIMITS)
        if status is None:
            return Seen.NOTHING
        return Seen.RED if status else Seen.GREEN


def git(path: Path, *arguments: str) -> str:
    """What a git command prints; raises RepositoryError where it fails."""
    command = Command(("git", *arguments), path, {**_environment(), **_GIT}, merge=True)
    result = run(command, _LIMITS)
    try:
        said = result.stdout.text().strip()
        if not result.succeeded:
            raise RepositoryError(f"git {arguments[0]} {result.describe()}: {said}")
        return said
    finally:
        result.remove()


def test_undone(path: Path, bad: str, patch: str, into: Path, commands: Plain) -> Seen:
    """What the test of the commit ``bad`` shows in a clone with ``patch`` applied (empty: none).

    Raises RepositoryError where git does not take the patch.
    """
    git(path, "clone", "-q", "--no-checkout", str(path), str(into))
    git(into, "checkout", "-q", bad)
    if patch:
        file = into.with_suffix(".patch")
        file.write_text(patch, encoding="utf-8", errors="surrogateescape")
        git(into, "apply", "--unidiff-zero", str(file))
    return replace(commands, path=into).seen()


def _status(argv: Sequence[str], path: Path, limits: ProcessLimits) -> int | None:
    """The exit status, a signal's below zero; None where the command did not end by itself."""
    result = run(Command(tuple(argv), path, _environment(), merge=True), limits)
    try:
        if result.ending is Ending.SIGNALLED:
            return -result.signal
        return result.status
    finally:
        result.remove()


def _environment() -> Mapping[str, str]:
    """The user's, with ``python`` the one that runs this."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    return scrubbed_environment({**os.environ, "PATH": path})
