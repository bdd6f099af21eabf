"""A test command that the user gave: nothing is detected, the whole command is the one test."""

from __future__ import annotations

from pathlib import Path

from afterd.execution.failures.suites import failed_tests
from afterd.execution.process import ProcessResult
from afterd.execution.runners.cargo import Cargo
from afterd.execution.runners.cmake import CMake
from afterd.execution.runners.go import Go
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.pytest import Pytest
from afterd.execution.runners.unittest import Unittest

GIVEN = "command"
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
