"""Cargo."""

from __future__ import annotations

from pathlib import Path

from afterd.execution.failures.suites import Family, failed_tests
from afterd.execution.process import ProcessResult
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import has


class Cargo:
    """Rust packages and workspaces."""

    name = "Cargo"

    def detect(self, root: Path) -> Detected | None:
        """By a Cargo.toml at the top."""
        if not has(root, "Cargo.toml"):
            return None
        locked = ("--locked",) if has(root, "Cargo.lock") else ()
        return Detected(
            self.name,
            ("cargo", "test", "--workspace", "--no-run", *locked),
            ("cargo", "test", "--workspace", "--no-fail-fast", *locked),
            "Found Cargo.toml: building and testing with Cargo.",
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From the lines of the test harness."""
        return failed_tests(result.stdout.text(), Family.CARGO)

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The test by its exact path."""
        return (*detected.test, "--", "--exact", test_id)
