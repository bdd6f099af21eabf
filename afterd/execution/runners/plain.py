"""A test command that the user gave: nothing is detected, the whole command is the one test."""

from __future__ import annotations

from pathlib import Path

from afterd.execution.failures.suites import failed_tests
from afterd.execution.process import ProcessResult
from afterd.execution.runners.protocol import Detected


class Plain:
    """Any command."""

    name = "command"

    def detect(self, root: Path) -> Detected | None:  # noqa: ARG002 - the protocol's signature
        """Never: somebody has to say the command."""
        return None

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """Whatever the output says in a form that is known, for the reader."""
        return failed_tests(f"{result.stdout.text()}\n{result.stderr.text()}")

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:  # noqa: ARG002 - one
        # command is all there is
        """The command."""
        return detected.test
