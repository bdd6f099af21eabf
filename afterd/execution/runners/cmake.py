"""CMake and CTest."""

from __future__ import annotations

import re
from pathlib import Path

from afterd.execution.failures.suites import Family, failed_tests
from afterd.execution.process import ProcessResult
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import BUILD_FOLDER, has, jobs, script, text

_TESTS = re.compile(r"\b(?:enable_testing|add_test|include\s*\(\s*CTest)\b", re.IGNORECASE)


class CMake:
    """Projects with a CMakeLists.txt that has tests."""

    name = "CTest"

    def detect(self, root: Path) -> Detected | None:
        """By a CMakeLists.txt that enables testing, at the top or one folder down."""
        if not has(root, "CMakeLists.txt"):
            return None
        lists = [root / "CMakeLists.txt", *sorted(root.glob("*/CMakeLists.txt"))]
        if not any(_TESTS.search(text(path)) for path in lists):
            return None
        return Detected(
            self.name,
            # Not a release build: that defines NDEBUG, and a failing assertion would be silent.
            script(
                f"cmake -S . -B {BUILD_FOLDER} -DCMAKE_BUILD_TYPE=Debug -DBUILD_TESTING=ON",
                f"cmake --build {BUILD_FOLDER} --parallel {jobs()}",
            ),
            ("ctest", "--test-dir", BUILD_FOLDER, "--output-on-failure"),
            f"Found CMakeLists.txt: building with CMake in {BUILD_FOLDER}/, testing with CTest.",
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From the list at the end of CTest's output."""
        listed = result.stdout.text().partition("The following tests FAILED:")[2]
        return failed_tests(listed, Family.CTEST)

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """CTest with the test's name as a whole."""
        return (*detected.test, "-R", f"^{_escaped(test_id)}$")


def _escaped(name: str) -> str:
    """``name`` as CMake's regular expressions match it literally (they know fewer escapes)."""
    return re.sub(r"([.*+?^$()\[\]|\\])", r"\\\1", name)
