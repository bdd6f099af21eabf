"""unittest, Python's own."""

from __future__ import annotations

import os
import re
import shlex
from argparse import ArgumentError, ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from afterd.execution.failures.suites import is_unread_module
from afterd.execution.process import ProcessResult
from afterd.execution.runners.declared import after_unittest, declared_commands
from afterd.execution.runners.namespaces import repaired_namespaces
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.python import Python, build_for, python_path
from afterd.execution.runners.reading import option, text
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
_PATTERNS = ("test*.py", "*_test.py", "*_tests.py")
"""How files of tests are named: as unittest looks for them by itself, then as others name theirs."""
_OF_DISCOVER = (
    ("-s", "--start-directory", "start"),
    ("-p", "--pattern", "pattern"),
    ("-t", "--top-level-directory", "top"),
)
"""Options of ``discover``, in the order in which they may stand without a name."""
_INSIDE = ("*", "*/tests", "*/test")
"""Where a package holds its own tests."""


@dataclass(frozen=True, slots=True)
class Unittest:
    """Projects with tests for unittest and nothing that asks for pytest."""

    python: Python = field(default_factory=Python)
    name: str = "unittest"

    def detect(self, root: Path) -> Detected | None:
        """By what the project's own files say of unittest, else by test files that use unittest.TestCase."""
        for command in declared_commands(root):
            arguments = after_unittest(command)
            said = None if arguments is None else _discovery(root, arguments)
            if said is not None:
                return self._discovering(root, said, f"`{shlex.join(command)}`")
        for pattern in _PATTERNS:
            for folder in _FOLDERS:
                found = sorted((root / folder).glob(pattern if folder == "." else f"**/{pattern}"))
                for path in islice(found, PROJECT.files):
                    if "unittest" in text(path):
                        return self._detected(root, folder, pattern, path)
            inside = chain.from_iterable(sorted(root.glob(f"{each}/{pattern}")) for each in _INSIDE)
            for path in islice(inside, PROJECT.files):
                if "unittest" in text(path):
                    folder = str(path.parent.relative_to(root))
                    return self._detected(root, folder, pattern, path)
        return None

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From the headings of unittest's report; subtests are their test."""
        report = result.stderr.whole() + result.stdout.whole()
        names = (dotted_id(match["name"], match["place"]) for match in _FAILED.finditer(report))
        return tuple(dict.fromkeys(names))

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The test by its dotted name."""
        return (detected.test[0], "-m", "unittest", "-v", test_id)

    def name_in(self, detected: Detected, file: str, inside: Sequence[str]) -> str:
        """The dotted name, from the folder that the tests are looked for in, or the top of its package."""
        start = option(detected.test, "-t") or option(detected.test, "-s")
        return dotted_name(file, start, inside)

    def is_unread(self, _detected: Detected, _test_id: str, said: str) -> bool:
        """By unittest's own words."""
        return is_unread_module(said)

    def _detected(self, root: Path, folder: str, pattern: str, example: Path) -> Detected:
        is_package = (root / folder / "__init__.py").is_file()
        asked = pattern if pattern != _PATTERNS[0] else ""
        found = _Discovery(folder, asked, "." if is_package and folder != "." else "")
        return self._discovering(root, found, str(example.relative_to(root)))

    def _discovering(self, root: Path, found: _Discovery, why: str) -> Detected:
        python = self.python.interpreter(root)
        path = python_path(root, self.python.home, python.asked.paths)
        path, namespaces = repaired_namespaces(path, python.path, self.python.home)
        top = found.top or found.start
        own = "" if top == "." else f"{{slot}}/{top}:"
        return Detected(
            self.name,
            build_for(root, python.path),
            (python.path, "-m", "unittest", "discover", "-v", *found.arguments()),
            f"Found {why}: testing with unittest of {python.where} in {found.start}/.",
            {"PYTHONPATH": own + path, **namespaces, **version_variables(root)},
            python.asked.digest,
            generated=version_files(root, self.python.home),
        )


@dataclass(frozen=True, slots=True)
class _Discovery:
    """What ``unittest discover`` looks for, and where: folders from the top of the checkout."""

    start: str = "."
    pattern: str = ""
    top: str = ""

    def arguments(self) -> tuple[str, ...]:
        """Those of ``discover``."""
        pattern = ("-p", self.pattern) if self.pattern else ()
        return ("-s", self.start, *pattern, *(("-t", self.top) if self.top else ()))


def _discovery(root: Path, arguments: Sequence[str]) -> _Discovery | None:
    """What the arguments of unittest make it discover; None where they do not, or in no folder of the checkout."""
    if arguments[:1] != ("discover",) and any(not each.startswith("-") for each in arguments):
        return None
    reader = ArgumentParser(add_help=False, exit_on_error=False)
    for short, long, name in _OF_DISCOVER:
        reader.add_argument(short, long, dest=name)
    try:
        read, rest = reader.parse_known_args(arguments[1:])
    except ArgumentError:
        return None
    placed = [each for each in rest if not each.startswith("-")]
    named = [getattr(read, name) or "" for _, _, name in _OF_DISCOVER]
    start, pattern, top = (
        name or given for name, given in zip(named, [*placed, "", "", ""], strict=False)
    )
    start, top = (os.path.normpath(each) if each else "" for each in (start or ".", top))
    return _Discovery(start, pattern, top) if (root / start).is_dir() else None


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
            found.setdefault(dotted_id(heading["name"], heading["place"]), said)
    return found


def test_under_way(report: str) -> str:
    """The test that a run which was ended had begun, of a report that names each; else empty."""
    begun = list(_BEGUN.finditer(report))
    if not begun or _ENDED.search(report, begun[-1].end() - 1):
        return ""
    return dotted_id(begun[-1]["name"], begun[-1]["place"])


def dotted_id(name: str, place: str) -> str:
    """The dotted name; since Python 3.11 the place in the heading ends with the test's name."""
    if place.startswith(_UNLOADED):
        return name
    if name in _FIXTURES or place.endswith(f".{name}"):
        return place
    return f"{place}.{name}"
