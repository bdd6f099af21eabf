"""npm scripts."""

from __future__ import annotations

import json
from pathlib import Path

from afterd.execution.failures.suites import Family, failed_tests
from afterd.execution.process import ProcessResult
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import has, script, text

_PLACEHOLDER = "no test specified"


class Npm:
    """JavaScript packages with a test script."""

    name = "npm"

    def detect(self, root: Path) -> Detected | None:
        """By a package.json whose test script is not npm's placeholder."""
        if _PLACEHOLDER in (command := _test_script(root)) or not command:
            return None
        install = (
            "npm ci" if has(root, "package-lock.json", "npm-shrinkwrap.json") else "npm install"
        )
        return Detected(
            self.name,
            script(
                f"test -d node_modules || {install} --no-audit --no-fund",
                "npm run build --if-present",
            ),
            ("npm", "test", "--silent"),
            f"Found package.json: testing with its script `{command}`.",
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From TAP, Jest or Vitest, where the script's runner prints one of them."""
        output = result.stdout.text() + result.stderr.text()
        return failed_tests(output, Family.TAP, Family.JEST, Family.VITEST)

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:  # noqa: ARG002 - how
        # one test is named depends on the script
        """The whole script."""
        return detected.test


def _test_script(root: Path) -> str:
    try:
        return str(json.loads(text(root / "package.json"))["scripts"]["test"])
    except (ValueError, KeyError, TypeError):
        return ""
