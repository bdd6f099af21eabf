"""Make by itself, and make behind a configure script."""

from __future__ import annotations

import re
from pathlib import Path

from afterd.execution.failures.suites import Family, failed_tests
from afterd.execution.process import ProcessResult
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import MAKEFILES, has, has_target, jobs, script, text

_SAFE = re.compile(r"[\w./+@-]+")


class Autotools:
    """Projects with a configure script, or what autoconf makes one of."""

    name = "autotools"

    def detect(self, root: Path) -> Detected | None:
        """By configure or configure.ac, with a Makefile.am or Makefile.in."""
        source = has(root, "configure", "configure.ac", "configure.in")
        template = has(root, "Makefile.am", "Makefile.in")
        if not source or not template:
            return None
        target = "check" if template == "Makefile.am" else _target(text(root / template)) or "check"
        return Detected(
            self.name,
            script(
                "test -x configure || autoreconf --install --force",
                "test -f Makefile || ./configure",
                f"make -j{jobs()}",
            ),
            ("make", target),
            f"Found {source} and {template}: building with ./configure and make,"
            f" testing with `make {target}`.",
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From automake's lines, a test each."""
        return failed_tests(result.stdout.text(), Family.AUTOMAKE)

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """Automake's `make check TESTS=…`; the whole suite for a name that make would expand."""
        if not _SAFE.fullmatch(test_id):
            return detected.test
        return (*detected.test, f"TESTS={test_id}")


class Make:
    """Projects with a makefile of their own that has a target for tests."""

    name = "make"

    def detect(self, root: Path) -> Detected | None:
        """By a makefile with a rule for check, test or tests."""
        name = has(root, *MAKEFILES)
        target = _target(text(root / name)) if name else ""
        if not target:
            return None
        return Detected(
            self.name,
            ("make", f"-j{jobs()}"),
            ("make", target),
            f"Found {name}: building with `make`, testing with `make {target}`.",
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From lines such as ``FAIL: name``, where the makefile's tests print them."""
        return failed_tests(result.stdout.text(), Family.AUTOMAKE)

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:  # noqa: ARG002 - a
        # makefile has no common way to run one test
        """The whole suite."""
        return detected.test


def _target(makefile: str) -> str:
    return has_target(makefile, "check", "test", "tests")
