"""unittest, Python's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from afterd.execution.process import ProcessResult
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.python import Python, build_for, python_path
from afterd.execution.runners.reading import text
from afterd.execution.runners.version_file import version_files, version_variables
from afterd.limits import PROJECT

_FAILED = re.compile(r"^(?:FAIL|ERROR): (?P<name>[\w.]+) \((?P<place>[\w.]+)\)", re.MULTILINE)
_BEGUN = re.compile(r"^(?P<name>\w+) \((?P<place>[\w.]+)\)(?:\n.*)? \.\.\. ", re.MULTILINE)
_ENDED = re.compile(
    r"(?:^|\s)(?:ok|FAIL|ERROR|expected failure|unexpected success|skipped .*)$", re.MULTILINE
)
_BETWEEN = re.compile(r"^(?:={70}|-{70})$", re.MULTILINE)
REPORTING = frozenset({"unittest", "Django"})
"""Runners whose report is unittest's."""
_UNLOADED = "unittest.loader._FailedTest"
_FIXTURES = frozenset({"setUpClass", "tearDownClass", "setUpModule", "tearDownModule"})
_FOLDERS = ("tests", "test", ".")
_INSIDE = ("*", "*/tests", "*/test")
"""Where a package holds its own tests."""


@dataclass(frozen=True, slots=True)
class Unittest:
    """Projects with tests for unittest and nothing that asks for pytest."""

    python: Python = field(default_factory=Python)
    name: str = "unittest"

    def detect(self, root: Path) -> Detected | None:
        """By test files that use unittest.TestCase."""
        for folder in _FOLDERS:
            found = sorted((root / folder).glob("*.py" if folder == "." else "**/test*.py"))
            for path in islice(found, PROJECT.files):
                if path.name.startswith("test") and "unittest" in text(path):
                    return self._detected(root, folder, path)
        inside = chain.from_iterable(sorted(root.glob(f"{each}/test*.py")) for each in _INSIDE)
        for path in islice(inside, PROJECT.files):
            if "unittest" in text(path):
                return self._detected(root, str(path.parent.relative_to(root)), path)
        return None

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From the headings of unittest's report; subtests are their test."""
        report = result.stderr.whole() + result.stdout.whole()
        names = (_identifier(match["name"], match["place"]) for match in _FAILED.finditer(report))
        return tuple(dict.fromkeys(names))

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The test by its dotted name."""
        return (detected.test[0], "-m", "unittest", "-v", test_id)

    def name_in(self, detected: Detected, file: str, inside: Sequence[str]) -> str:
        """The dotted name, from the folder that the tests are looked for in, or the top of its package."""
        start = "." if "-t" in detected.test else detected.test[detected.test.index("-s") + 1]
        return dotted_name(file, start, inside)

    def _detected(self, root: Path, folder: str, example: Path) -> Detected:
        python = self.python.interpreter(root)
        path = python_path(root, self.python.home, python.asked.paths)
        is_package = (root / folder / "__init__.py").is_file()
        top = ("-t", ".") if is_package and folder != "." else ()
        own = "" if is_package or folder == "." else f"{{slot}}/{folder}:"
        return Detected(
            self.name,
            build_for(root, python.path),
            (python.path, "-m", "unittest", "discover", "-v", "-s", folder, *top),
            f"Found {example.relative_to(root)}: testing with unittest of {python.where} in {folder}/.",
            {"PYTHONPATH": own + path, **version_variables(root)},
            python.asked.digest,
            generated=version_files(root, self.python.home),
        )


def dotted_name(file: str, start: str, inside: Sequence[str]) -> str:
    """The name by which what is inside a file is imported from a folder, or from the top where it is not below that."""
    below = file.removeprefix(f"{start}/").removesuffix(".py").removesuffix("/__init__")
    return ".".join((*below.split("/"), *inside))


def reported_failures(report: str) -> dict[str, str]:
    """What a report says below the heading of each test that failed, of several its first."""
    found: dict[str, str] = {}
    for heading in _FAILED.finditer(report):
        if begin := _BETWEEN.search(report, heading.end()):
            end = _BETWEEN.search(report, begin.end())
            said = report[begin.end() : end.start() if end else len(report)].strip()
            found.setdefault(_identifier(heading["name"], heading["place"]), said)
    return found


def test_under_way(report: str) -> str:
    """The test that a run which was ended had begun, of a report that names each; else empty."""
    begun = list(_BEGUN.finditer(report))
    if not begun or _ENDED.search(report, begun[-1].end() - 1):
        return ""
    return _identifier(begun[-1]["name"], begun[-1]["place"])


def _identifier(name: str, place: str) -> str:
    """The dotted name; since Python 3.11 the place in the heading ends with the test's name."""
    if place.startswith(_UNLOADED):
        return name
    if name in _FIXTURES or place.endswith(f".{name}"):
        return place
    return f"{place}.{name}"
