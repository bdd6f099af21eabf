"""Go."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from afterd.execution.process import ProcessResult
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import has


class Go:
    """Go modules. A test's id is its package and its name with a space between."""

    name = "Go"

    def detect(self, root: Path) -> Detected | None:
        """By a go.mod at the top."""
        if not has(root, "go.mod"):
            return None
        return Detected(
            self.name,
            ("go", "test", "-count=1", "-run", "^$", "./..."),
            # -count=1: go keeps outcomes of its own, and a flaky test would look firm.
            ("go", "test", "-count=1", "-json", "./..."),
            "Found go.mod: building and testing with Go.",
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From `go test -json`; of a test with subtests, the failed leaves."""
        failed = list(dict.fromkeys(_failed(result.stdout.text())))
        return tuple(
            test
            for test in failed
            if not any(other.startswith(f"{test}/") for other in failed if other != test)
        )

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The test in its package, each level of its name anchored."""
        package, _, name = test_id.partition(" ")
        if not name:
            return (*detected.test[:-1], package)
        pattern = "/".join(f"^{re.escape(part)}$" for part in name.split("/"))
        return (*detected.test[:-1], "-run", pattern, package)


def _failed(output: str) -> Iterator[str]:
    packages: list[str] = []
    with_tests: set[str] = set()
    for line in output.splitlines():
        try:
            event = json.loads(line)
        except ValueError:  # the compiler's messages are not JSON
            continue
        if not isinstance(event, dict) or event.get("Action") != "fail":
            continue
        package = str(event.get("Package", ""))
        if event.get("Test"):
            with_tests.add(package)
            yield f"{package} {event['Test']}"
        else:
            packages.append(package)
    # A package that fails without a failed test does not compile, or its process died.
    yield from (package for package in packages if package not in with_tests)
