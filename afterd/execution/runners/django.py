"""Django's test runner: unittest's tests in a project with settings, asked for by `manage.py` or `runtests.py`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from afterd.execution.process import ProcessResult
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.pytest import configuration_of
from afterd.execution.runners.python import Python, build_for, python_path
from afterd.execution.runners.reading import text
from afterd.execution.runners.unittest import Unittest, dotted_name
from afterd.execution.runners.version_file import version_files, version_variables

_MANAGED = ("manage.py", "tests/manage.py", "test/manage.py")
_RUN = ("runtests.py", "tests/runtests.py", "test/runtests.py")
_DJANGO = re.compile(r"^\s*(?:import|from) django\b", re.MULTILINE)
_TAKES_LABELS = re.compile(r"\bargv\b|\bargparse\b")
_WITHIN = re.compile(r"\bcd (\S+) && exec")
_VERBOSE = ("-v", "2")
"""Each test is named as it begins, so that the one that hangs is known."""


@dataclass(frozen=True, slots=True)
class Django:
    """Projects and packages of Django's, and Django itself, but for those that ask for pytest."""

    python: Python = field(default_factory=Python)
    name: str = "Django"

    def detect(self, root: Path) -> Detected | None:
        """By the script that people start its tests with, where nothing is configured for pytest."""
        script = next((s for s in (*_MANAGED, *_RUN) if _DJANGO.search(text(root / s))), "")
        if not script or configuration_of(root):
            return None
        managed, said = script in _MANAGED, text(root / script)
        verbose = _VERBOSE if managed or "verbosity" in said else ()
        python = self.python.interpreter(root, "django")
        folder, _, name = script.rpartition("/")
        # The tests of a project are looked for where it is, and imported from there.
        within = ("sh", "-c", f'cd {folder} && exec "$0" "$@"') if managed and folder else ()
        command = (python.path, name if within else script, *(["test"] if managed else []))
        return Detected(
            self.name,
            build_for(root, python.path),
            (*within, *command, *verbose),
            f"Found {script}: testing with Django's runner and {python.where}.",
            {
                "PYTHONPATH": python_path(root, self.python.home, python.asked.paths),
                **version_variables(root),
            },
            python.asked.digest,
            generated=version_files(root, self.python.home),
            alone=managed or _TAKES_LABELS.search(said) is not None,
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """Django reports as unittest does."""
        return Unittest().failing_tests(result)

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The test by its dotted name, its label; the whole suite where the script takes none."""
        return (*detected.test, test_id) if detected.alone else detected.test

    def name_in(self, detected: Detected, file: str, inside: Sequence[str]) -> str:
        """The label, from the folder of the script."""
        script = next((each for each in detected.test if each in _RUN), "")
        folder = (
            match[1]
            if (match := _WITHIN.search(" ".join(detected.test)))
            else script.rpartition("/")[0]
        )
        return dotted_name(file, folder, inside)
