"""pytest: the tests are Python, nothing is built, and a plugin of ours reports outcomes exactly."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from afterd.execution.failures.pytest_reports import read_reports
from afterd.execution.failures.suites import failed_tests
from afterd.execution.process import ProcessResult
from afterd.execution.runners.plugins import afterd_outcomes
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.python import build_for, interpreter, python_path
from afterd.execution.runners.reading import has, text, toml

_PLUGINS = str(Path(afterd_outcomes.__file__).parent)
_TEST_FILE = re.compile(r"(?:test_.*|.*_test)\.py")
_SEARCHED = ("tests", "test", "testing", ".")
_MOST_FILES = 5000
_FOR_PYTEST = re.compile(
    r"^\s*(?:import pytest|from pytest\b)|^(?:async )?def test_|^class Test\w*(?:\(\))?:",
    re.MULTILINE,
)


def surroundings(root: Path, inherited: str = "") -> Mapping[str, str]:
    """The environment that makes pytest report to us and import the slot's modules.

    ``inherited`` is a PYTHONPATH to keep behind ours.
    """
    path = ":".join(filter(None, (python_path(root), _PLUGINS, inherited)))
    return {"PYTHONPATH": path, "PYTEST_PLUGINS": afterd_outcomes.__name__.rpartition(".")[2]}


class Pytest:
    """Projects whose tests pytest runs."""

    name = "pytest"

    def detect(self, root: Path) -> Detected | None:
        """By pytest's own configuration, a conftest, or test files that are written for it."""
        why = self._configured(root) or self._test_files(root)
        if not why:
            return None
        python = interpreter(root, "pytest")
        build = build_for(root, python)
        after = "after building what they test" if build else "with nothing to build"
        sentence = f"Found {why}: testing with pytest, {after}."
        # Without the option one module that cannot be imported hides every other test.
        test = (python, "-m", "pytest", "-q", "--continue-on-collection-errors")
        return Detected(self.name, build, test, sentence, surroundings(root))

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From our plugin's lines; from pytest's summary where another pytest hid them."""
        reports = read_reports(result.directory)
        if not reports:
            return failed_tests(result.stdout.text())
        failed = [report.test for report in reports if report.failed]
        begun = [report.test for report in reports if report.when == "start"]
        ended = {report.test for report in reports if report.when != "start"}
        if result.signal and begun and begun[-1] not in ended:
            failed.append(begun[-1])  # it took the interpreter with it
        return tuple(dict.fromkeys(filter(None, failed)))

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The suite's command with the node id."""
        return (*detected.test, test_id)

    def _configured(self, root: Path) -> str:
        if name := has(root, "pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py"):
            return name
        if "pytest" in toml(root / "pyproject.toml").get("tool", {}):
            return "[tool.pytest] in pyproject.toml"
        for name, section in (("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]")):
            if section in text(root / name):
                return f"{section} in {name}"
        return ""

    def _test_files(self, root: Path) -> str:
        if not has(root, "pyproject.toml", "setup.py", "setup.cfg"):
            return ""
        for path in islice(_test_files(root), _MOST_FILES):
            if _FOR_PYTEST.search(text(path)):
                return str(path.relative_to(root))
        return ""


def _test_files(root: Path) -> Iterator[Path]:
    for folder in _SEARCHED:
        pattern = "*.py" if folder == "." else "**/*.py"
        for path in sorted((root / folder).glob(pattern)):
            if _TEST_FILE.fullmatch(path.name):
                yield path
