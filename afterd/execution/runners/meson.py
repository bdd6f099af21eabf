"""Meson."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from afterd.execution.failures.suites import Family, failed_tests
from afterd.execution.failures.written_reports import TestReport, begin_of_run, meson_reports
from afterd.execution.process import ProcessResult
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import BUILD_FOLDER, has, option, script, text

_OFF = re.compile(
    r"option\s*\(\s*'(?P<name>(?:build[-_]|enable[-_]|with[-_])?(?:unit[-_]?)?tests?)'\s*,[^)]*?"
    r"type\s*:\s*'(?P<type>boolean|feature)'[^)]*?value\s*:\s*(?P<value>false|'disabled')"
)
_NINJA = '"$(command -v ninja || command -v ninja-build || command -v samu)"'  # as Meson finds it
_TEST = re.compile(r"^[^#\n]*\btest\s*\(", re.MULTILINE)
_OTHERS = "subprojects"
_LOG = "meson-logs/testlog.json"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Meson:
    """Projects with a meson.build that has tests."""

    name = "Meson"

    def detect(self, root: Path) -> Detected | None:
        """By a meson.build at the top, and a test in it or in one below: jo's autotools alone know of
        its tests, and no test at all was called a suite that passes.
        """
        lists = (path for path in root.rglob("meson.build") if _OTHERS not in path.parts)
        if not has(root, "meson.build") or not any(_TEST.search(text(path)) for path in lists):
            return None
        return Detected(
            self.name,
            script(
                f"test -f {BUILD_FOLDER}/build.ninja || meson setup {BUILD_FOLDER}{_switched_on(root)}",
                # emptied where another version declares other defaults
                f"test -s {BUILD_FOLDER}/meson-private/coredata.dat || meson setup --reconfigure {BUILD_FOLDER}",
                f"meson compile -C {BUILD_FOLDER}",
                # Since Meson 1.7 tests with build_by_default: false are built only when they are run.
                f"! grep -qs '^build meson-test-prereq:' {BUILD_FOLDER}/build.ninja"
                f" || {_NINJA} -C {BUILD_FOLDER} meson-test-prereq",
            ),
            ("meson", "test", "-C", BUILD_FOLDER, "--print-errorlogs", "--no-rebuild"),
            f"Found meson.build: building and testing with Meson in {BUILD_FOLDER}/.",
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From the lines of the tests, which the summary of failures repeats."""
        return failed_tests(_COLOUR.sub("", result.stdout.whole()), Family.MESON)

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The test by its name."""
        return (*detected.test, test_id)

    def written_reports(
        self, result: ProcessResult, command: Sequence[str], folder: Path
    ) -> tuple[TestReport, ...]:
        """Meson's log of every test, in the build folder; a test that two subprojects have is one."""
        return meson_reports(folder / option(command, "-C") / _LOG, begin_of_run(result))


def _switched_on(root: Path) -> str:
    """The project's own options for its tests, where they are off by default."""
    options = text(root / (has(root, "meson.options", "meson_options.txt") or "meson.options"))
    values = {"boolean": "true", "feature": "enabled"}
    return "".join(f" -D{m['name']}={values[m['type']]}" for m in _OFF.finditer(options))
