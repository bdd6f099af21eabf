"""Cases of Python packages: pairs of releases on PyPI with a documented regression.

``data/real_python.json`` holds for each the two versions, which folders of the source distribution
are the program, a test written for this list, and the guilty hunks.

An interpreter with pytest and what the packages under test need, apart from afterd's own.

afterd itself needs click, rich and attrs-like packages; a package under test must not be taken
from there. The environment is made once and kept in the cache.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afterd.bench.archive import File, Files, chosen_files, files_of
from afterd.bench.case import Prepared, UnavailableError
from afterd.bench.facts import answers_of, commit_two, facts, release
from afterd.bench.judgement import Answer
from afterd.bench.releases import Release, Releases
from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits
from afterd.report.sanitize import clipped_text, one_line

TEST = "test_regression.py"
PYTEST = "pytest>=8,<9"


@dataclass(frozen=True, slots=True)
class RealPythonCase:
    """A pair of releases; ``pythonpath`` are the folders that go on the import path."""

    name: str
    good: Release
    bad: Release
    source: tuple[str, ...]
    pythonpath: tuple[str, ...]
    test: str
    requirements: tuple[str, ...]
    answers: Sequence[Answer]
    releases: Releases

    def prepare(self, directory: Path) -> Prepared:
        """Download, choose the program's folders, lay the test over, commit."""
        python = interpreter(self.releases.cache, (PYTEST, *self.requirements))
        laid_over = self._laid_over()
        good, bad = (
            {**chosen_files(files_of(self.releases.archive(release)), self.source), **laid_over}
            for release in (self.good, self.bad)
        )
        commits = commit_two(directory, good, bad, (str(self.good), str(self.bad)))
        test = (str(python), "-m", "pytest", "-q", TEST)
        return Prepared(directory, *commits, build=(), test=test)

    def _laid_over(self) -> Files:
        """The test, and what a project with its packages in a folder tells pytest."""
        paths = " ".join(self.pythonpath)
        settings = f"[pytest]\npythonpath = {paths}\n"
        return {
            TEST: File(self.test.encode()),
            "pytest.ini": File(settings.encode()),
        }


def real_python_cases(releases: Releases) -> list[RealPythonCase]:
    """Every pair of ``data/real_python.json``."""
    return [_case(entry, releases) for entry in facts("real_python")]


def _case(entry: Mapping[str, Any], releases: Releases) -> RealPythonCase:
    return RealPythonCase(
        name=entry["id"],
        good=release(entry, "good"),
        bad=release(entry, "bad"),
        source=tuple(entry["source"]),
        pythonpath=tuple(entry.get("pythonpath", (".",))),
        test=entry["test"],
        requirements=tuple(entry.get("requires", ())),
        answers=answers_of(entry),
        releases=releases,
    )


_LIMITS = ProcessLimits(timeout=600.0)
_COMPLETE = "complete"


def interpreter(cache: Path, requirements: Sequence[str]) -> Path:
    """Its path. Raises UnavailableError when the environment cannot be made here."""
    wanted = "\n".join((sys.executable, *sorted(requirements)))
    digest = hashlib.sha256(wanted.encode()).hexdigest()[:8]
    directory = cache / "environments" / f"python-{platform.python_version()}-{digest}"
    python = directory / "bin" / "python"
    if (directory / _COMPLETE).exists():
        return python
    shutil.rmtree(directory, ignore_errors=True)  # what an interrupted run left
    directory.parent.mkdir(parents=True, exist_ok=True)
    _run_or_fail(directory.parent, sys.executable, "-m", "venv", "--without-pip", str(directory))
    pip = ("-m", "pip", "--python", str(python), "install", "--quiet", "--no-input")
    check = "--disable-pip-version-check"
    _run_or_fail(directory.parent, sys.executable, *pip, "--retries", "1", check, *requirements)
    (directory / _COMPLETE).write_text(wanted, encoding="utf-8")
    return python


def _run_or_fail(cwd: Path, *argv: str) -> None:
    result = run(Command(argv, cwd, scrubbed_environment(), merge=True), _LIMITS)
    try:
        if not result.succeeded:
            lines = result.stdout.text().strip().splitlines() or [result.describe()]
            said = one_line(clipped_text(lines[-1], 200))
            raise UnavailableError(f"No environment for the tests could be made: {said}")
    finally:
        result.remove()
