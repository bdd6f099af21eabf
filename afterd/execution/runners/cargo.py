"""Cargo."""

from __future__ import annotations

import re
from pathlib import Path

from afterd.execution.process import ProcessResult
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import has

_FAILED = re.compile(r"^test (?P<test>\S+)(?: - should panic)? \.\.\. FAILED$", re.MULTILINE)


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
        matches = _FAILED.finditer(result.stdout.text())
        return tuple(dict.fromkeys(match["test"] for match in matches))

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The test by its exact path."""
        return (*detected.test, "--", "--exact", test_id)
