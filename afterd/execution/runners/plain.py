"""A test command that the user gave, or that a Python project's own files name where no runner is known.

Nothing more is known of it: the whole command is the one test.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from afterd.errors import TestError
from afterd.execution.failures.suites import failed_tests
from afterd.execution.process import ProcessResult
from afterd.execution.runners.cargo import Cargo
from afterd.execution.runners.cmake import CMake
from afterd.execution.runners.declared import declared_commands, is_python, what_runs
from afterd.execution.runners.go import Go
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.pytest import Pytest
from afterd.execution.runners.python import Python, build_for, python_path
from afterd.execution.runners.unittest import Unittest
from afterd.execution.runners.version_file import version_files, version_variables

GIVEN = "command"
_TESTS = re.compile(r"test|(?:^|/)(?:trial|nose2?|ward)$", re.IGNORECASE)
_TOLD_BY_RUNNERS = (Unittest(), CMake(), Cargo(), Go())  # what they say is read by them alone


class Plain:
    """Any command."""

    name = GIVEN

    def detect(self, root: Path) -> Detected | None:  # noqa: ARG002 - the protocol's signature
        """Never: somebody has to say the command."""
        return None

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """Whatever the output says in a form that is known."""
        if reported := Pytest().failing_tests(result):
            return reported
        for runner in _TOLD_BY_RUNNERS:
            if found := runner.failing_tests(result):
                return found
        return failed_tests(f"{result.stdout.whole()}\n{result.stderr.whole()}")

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:  # noqa: ARG002 - one
        # command is all there is
        """The command."""
        return detected.test


def declared_test(root: Path, looked_at: Python) -> Detected | None:
    """The first command that the files of a Python project say its tests are run with, by a Python or by what its
    environment has; None where they name none.

    Raises TestError where all that they name are programs that the environment has not.
    """
    lacking = ""
    for command in declared_commands(root):
        if not _TESTS.search(what_runs(command)):
            continue
        python = looked_at.interpreter(root)
        program = Path(python.path).with_name(command[0])
        if not is_python(command) and not program.is_file():
            lacking = lacking or (
                f"The project's own files have its tests run by `{shlex.join(command)}`, and {python.where} has no"
                f" {command[0]}; install what the tests need there, or name the test command after -- or with --test."
            )
            continue
        own = python_path(root, looked_at.home, python.asked.paths)
        return Detected(
            GIVEN,
            build_for(root, python.path),
            (python.path if is_python(command) else str(program), *command[1:]),
            f"Found `{shlex.join(command)}` in the project's own files: testing with it, by {python.where}.",
            {"PYTHONPATH": own, **version_variables(root)},
            python.asked.digest,
            generated=version_files(root, looked_at.home),
        )
    if lacking:
        raise TestError(lacking)
    return None
