"""Cargo."""

from __future__ import annotations

import re
from pathlib import Path

from afterd.execution.failures.suites import Family, failed_tests
from afterd.execution.process import ProcessResult
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import has

_EXAMPLE = re.compile(r"(?P<item>\S.* - .*\(line )\d+\)(?: - compile.*)?")
_LIST = re.compile(r"^failures:\n(?P<names>(?:    \S.*\n)+)", re.MULTILINE)


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
        """From the lines of the test harness, or its list at the end, which is all that -q leaves."""
        said = result.stdout.whole()
        lists = "".join(match["names"] for match in _LIST.finditer(said))
        named = (line.strip().removesuffix(" - should panic") for line in lists.splitlines())
        return failed_tests(said, Family.CARGO) or tuple(dict.fromkeys(named))

    def one_build(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The library, programs and their tests, without examples and benchmarks."""
        return (*detected.build, *_targets(test_id))

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The test by its exact path; an example of the documentation by what it documents, as the line in
        its name is another one in other versions: all examples of one item are one test.
        """
        if match := _EXAMPLE.fullmatch(test_id):
            return (*detected.test, "--", match["item"])
        return (*detected.test, *_targets(test_id), "--", "--exact", test_id)


def _targets(test_id: str) -> tuple[str, ...]:
    """All targets that hold such a test: those of the documentation ("src/lib.rs - f (line 3)") have a
    compiler run each.
    """
    return () if " - " in test_id else ("--tests",)
