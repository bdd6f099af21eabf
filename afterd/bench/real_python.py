"""Cases of Python packages: pairs of releases on PyPI with a documented regression.

``data/real_python.json`` holds for each the two versions, which folders of the source distribution
are the program, a test written for this list, and the guilty hunks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afterd.bench.archive import File, Files, chosen, files_of
from afterd.bench.case import Prepared
from afterd.bench.facts import answers_of, facts, release
from afterd.bench.judgement import Answer
from afterd.bench.python_environment import interpreter
from afterd.bench.releases import Release, Releases
from afterd.bench.two_versions import commit_two

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
            {**chosen(files_of(self.releases.archive(release)), self.source), **laid_over}
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
