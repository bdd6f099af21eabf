"""pytest: the tests are Python, nothing is built, and a plugin of ours reports outcomes exactly."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from afterd.execution.failures.pytest_reports import read_reports
from afterd.execution.failures.suites import failed_tests
from afterd.execution.process import ProcessResult
from afterd.execution.runners.namespaces import repaired_namespaces
from afterd.execution.runners.plugins import afterd_outcomes
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.python import Python, build_for, python_path
from afterd.execution.runners.reading import has, jobs, text, toml
from afterd.execution.runners.version_file import version_files, version_variables
from afterd.limits import PROJECT

PLUGINS = str(Path(afterd_outcomes.__file__).parent)
PLUGIN = afterd_outcomes.__name__.rpartition(".")[2]
"""Our plugin's name, and the folder that it is imported from."""
_TEST_FILE = re.compile(r"(?:test_.*|.*_test)\.py")
_SEARCHED = ("tests/**/", "test/**/", "testing/**/", "", "*/tests/**/", "src/*/tests/**/", "*/")
_OPTIONS_OF = ("pyproject.toml", "pytest.ini", ".pytest.ini", "setup.cfg", "tox.ini")
_CUTS_SHORT = re.compile(r"(?<![\w-])(?:-x\b|--exitfirst|--maxfail)")
_SPREADS = re.compile(r"(?<![\w-])(?:-n[ =\"',]*(?:auto|logical|\d)|--numprocesses)")
_ALIAS = re.compile(r"^\[aliases\]\n(?:[^\[\n]*\n)*?\s*test\s*=\s*pytest\b", re.MULTILINE)
_FOR_PYTEST = re.compile(
    r"^\s*(?:import pytest|from pytest\b)|^(?:async )?def test_|^class Test\w*(?:\(\))?:",
    re.MULTILINE,
)


def surroundings(own_path: str, inherited: str = "") -> Mapping[str, str]:
    """The environment that makes pytest report to us and import the slot's modules.

    ``own_path`` is the PYTHONPATH of these, ``inherited`` one to keep behind ours.
    """
    path = ":".join(filter(None, (own_path, PLUGINS, inherited)))
    return {"PYTHONPATH": path, "PYTEST_PLUGINS": PLUGIN}


@dataclass(frozen=True, slots=True)
class Pytest:
    """Projects whose tests pytest runs."""

    python: Python = field(default_factory=Python)
    name: str = "pytest"

    def detect(self, root: Path) -> Detected | None:
        """By pytest's own configuration, a conftest, or test files that are written for it."""
        why = self.recognised(root)
        return self.running(root, why) if why else None

    def running(self, root: Path, why: str) -> Detected:
        """How pytest runs the tests of a checkout of which ``why`` says that they are for it."""
        python = self.python.interpreter(root, "pytest")
        build = build_for(root, python.path)
        after = "after building what they test" if build else "with nothing to build"
        sentence = f"Found {why}: testing with pytest of {python.where}, {after}."
        # Without the option one module that cannot be imported hides every other test.
        test = (python.path, "-m", "pytest", "-q", "--continue-on-collection-errors")
        against = tuple(_against_options(root, python.asked.modules))
        own = python_path(root, self.python.home, python.asked.paths)
        own, namespaces = repaired_namespaces(own, python.path, self.python.home)
        return Detected(
            self.name,
            build,
            (*test, *against),
            sentence,
            {**surroundings(own), **namespaces, **version_variables(root)},
            python.asked.digest,
            several=("-n", jobs()) if "xdist" in python.asked.modules and jobs() != "1" else (),
            reported=True,
            generated=version_files(root, self.python.home),
        )

    def recognised(self, root: Path) -> str:
        """What says that pytest runs the tests of a checkout; empty where nothing does."""
        return configuration_of(root) or self._test_files(root)

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From our plugin's lines; from pytest's summary where another pytest hid them."""
        reports = read_reports(result.directory)
        if not reports:
            return failed_tests(result.stdout.whole())
        failed = [report.test for report in reports if report.failed]
        begun = [report.test for report in reports if report.when == "start"]
        ended = {report.test for report in reports if report.when != "start"}
        if result.signal and begun and begun[-1] not in ended:
            failed.append(begun[-1])  # it took the interpreter with it
        return tuple(dict.fromkeys(filter(None, failed)))

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The suite's command with the node id."""
        return (*detected.test, test_id)

    def name_in(self, _detected: Detected, file: str, inside: Sequence[str]) -> str:
        """A node id."""
        return "::".join((file, *inside))

    def is_unread(self, _detected: Detected, test_id: str, _said: str) -> bool:
        """A file."""
        return "::" not in test_id and test_id.endswith(".py")

    def _test_files(self, root: Path) -> str:
        for path in islice(_test_files(root), PROJECT.files):
            if _FOR_PYTEST.search(text(path)):
                return str(path.relative_to(root))
        return ""


def configuration_of(root: Path) -> str:
    """What says that pytest is meant to run the tests of a checkout; empty where nothing does."""
    if name := has(root, "pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py"):
        return name
    if "pytest" in toml(root / "pyproject.toml").get("tool", {}):
        return "[tool.pytest] in pyproject.toml"
    for name, section in (("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]")):
        if section in text(root / name):
            return f"{section} in {name}"
    if _ALIAS.search(text(root / "setup.cfg")):
        return "[aliases] in setup.cfg"
    return ""


def _against_options(root: Path, modules: Collection[str]) -> Iterator[str]:
    """What undoes options of the project that make sense for its whole suite alone.

    A bound on coverage fails every test that is run by itself, and workers cannot be traced.
    """
    written = "\n".join(text(root / name) for name in _OPTIONS_OF)
    if "pytest_cov" in modules:
        yield "--no-cov"
    if _CUTS_SHORT.search(written):
        yield "--maxfail=0"
    if "xdist" in modules and _SPREADS.search(written):
        yield "-n0"


def _test_files(root: Path) -> Iterator[Path]:
    for folder in _SEARCHED:
        for path in sorted(root.glob(f"{folder}*.py")):
            if _TEST_FILE.fullmatch(path.name):
                yield path
