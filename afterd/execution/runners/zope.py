"""zope.testrunner: unittest's tests and doctests in layers, by the command that the project's own files have for it.

A test's id is its dotted name; that of a module which cannot be imported is the module's with ``(import)`` behind it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from afterd.errors import TestError
from afterd.execution.failures.written_reports import TestReport, failed_names
from afterd.execution.process import ProcessResult
from afterd.execution.runners.declared import declared_commands, is_python
from afterd.execution.runners.namespaces import repaired_namespaces
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.pytest import configuration_of
from afterd.execution.runners.python import Python, build_for, python_path
from afterd.execution.runners.reading import option
from afterd.execution.runners.unittest import dotted_id, dotted_name
from afterd.execution.runners.version_file import version_files, version_variables

_PROGRAM = "zope-testrunner"
_MODULE = "zope.testrunner"
_OF_MODULE = " (import)"
_NAMED = r"(?P<test>\S+) \((?P<place>[\w.]+)\)"
_BEGUN = re.compile(rf"^ {_NAMED}", re.MULTILINE)
_FAILED = re.compile(rf"^(?:Failure|Error) in test {_NAMED}.*\n", re.MULTILINE)
_UNREAD = re.compile(r"^Module: (?P<module>[\w.]+)\n", re.MULTILINE)
_NEXT = re.compile(
    r"^(?: \S+ \(|(?:Failure|Error) in test |Module: |Running | {2}Ran \d|Tearing down)",
    re.MULTILINE,
)
"""What stands below the last word on a test that failed."""


@dataclass(frozen=True, slots=True)
class ZopeTestrunner:
    """Projects whose own files have their tests run by zope.testrunner, but for those that ask for pytest."""

    python: Python = field(default_factory=Python)
    name: str = _MODULE

    def detect(self, root: Path) -> Detected | None:
        """By the command that the project's own files have for it, where an interpreter of its has the package."""
        if configuration_of(root):
            return None
        for command in declared_commands(root):
            asked = _arguments(command)
            if asked is None:
                continue
            try:
                python = self.python.interpreter(root, _MODULE)
            except TestError:  # another runner may do, and what is missing is told where none does
                return None
            path = python_path(root, self.python.home, python.asked.paths)
            path, namespaces = repaired_namespaces(path, python.path, self.python.home)
            return Detected(
                self.name,
                build_for(root, python.path),
                (python.path, "-m", _MODULE, *asked, "-vv", "--no-color"),
                f"Found `{shlex.join(command)}` in the project's own files: testing with it, by {python.where}.",
                {"PYTHONPATH": path, **namespaces, **version_variables(root)},
                python.asked.digest,
                generated=version_files(root, self.python.home),
            )
        return None

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """Those below a heading of their own."""
        return failed_names(read_report(result.stdout.whole()))

    def written_reports(
        self,
        result: ProcessResult,
        command: Sequence[str],  # noqa: ARG002 - the protocol's signature
        folder: Path,  # noqa: ARG002 - the protocol's signature
    ) -> tuple[TestReport, ...]:
        """What it prints of each test."""
        return read_report(result.stdout.whole())

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The test of that name, in whichever module a suite has it; a module is loaded, and no test of it run."""
        if test_id.endswith(_OF_MODULE):
            module = re.escape(test_id.removesuffix(_OF_MODULE))
            return (*detected.test, "-m", f"^{module}$", "-t", "^$")
        place, _, name = test_id.rpartition(".")
        place, name = re.escape(place), re.escape(name)
        within = (
            rf" \({re.escape(test_id)}(?:\.|\)$)"  # what is in a module or a class of that name
        )
        return (*detected.test, "-t", rf"^{name} \({place}(?:\.{name})?\)|{within}")

    def name_in(self, detected: Detected, file: str, inside: Sequence[str]) -> str:
        """The dotted name, from the folder that the tests are looked for in."""
        start = option(detected.test, "--test-path") or option(detected.test, "--path")
        return dotted_name(file, start, inside)

    def is_unread(self, _detected: Detected, test_id: str, _said: str) -> bool:
        """A module."""
        return test_id.endswith(_OF_MODULE)


def read_report(printed: str) -> tuple[TestReport, ...]:
    """What became of each test; of one that failed with what is said below its heading."""
    found = {name: TestReport(name, failed=False) for name in map(_id, _BEGUN.finditer(printed))}
    failed = [(_id(match), match.end()) for match in _FAILED.finditer(printed)]
    unread = [(match["module"] + _OF_MODULE, match.end()) for match in _UNREAD.finditer(printed)]
    for name, begin in (*failed, *unread):
        if name not in found or not found[name].failed:
            end = _NEXT.search(printed, begin)
            said = printed[begin : end.start() if end else len(printed)]
            found[name] = TestReport(name, failed=True, said=said.strip())
    return tuple(found.values())


def _id(match: re.Match[str]) -> str:
    return dotted_id(match["test"], match["place"])


def _arguments(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """The arguments of zope.testrunner in a command that runs it; None in any other."""
    if Path(command[0]).name == _PROGRAM:
        return command[1:]
    words = command[1:] if is_python(command) else ()
    if ("-m", _MODULE) in pairwise(words):
        return words[words.index(_MODULE) + 1 :]
    return None
