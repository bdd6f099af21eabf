"""Django's test runner: unittest's tests in a project with settings, asked for by `manage.py` or `runtests.py`."""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentError, ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from afterd.execution.failures.suites import is_unread_module
from afterd.execution.process import ProcessResult
from afterd.execution.runners.declared import declared_commands, declared_variables, is_python
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
_ADMIN = frozenset({"django-admin", "django-admin.py"})
_TESTED = ("-m", "django", "test")
_SETTINGS = "DJANGO_SETTINGS_MODULE"
_OPTIONS = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
"""Those of Django's ``test`` that say which tests are found, and with what."""
for _names in (
    *(["--settings"], ["--pythonpath"], ["--testrunner"], ["-t", "--top-level-directory"]),
    *(["-p", "--pattern"], ["--tag"], ["--exclude-tag"]),
):
    _OPTIONS.add_argument(*_names)
_SHOWN = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
"""Those that say how they are run and shown, which is our affair."""
_SHOWN.add_argument("-v", "--verbosity")
_SHOWN.add_argument("--parallel", nargs="?")


@dataclass(frozen=True, slots=True)
class Django:
    """Projects and packages of Django's, and Django itself, but for those that ask for pytest."""

    python: Python = field(default_factory=Python)
    name: str = "Django"

    def detect(self, root: Path) -> Detected | None:
        """By the script that people start its tests with, or the command that the project's own files have for that,
        where nothing is configured for pytest.
        """
        script = next((s for s in (*_MANAGED, *_RUN) if _DJANGO.search(text(root / s))), "")
        if configuration_of(root):
            return None
        if not script:
            return self._declared(root)
        managed, said = script in _MANAGED, text(root / script)
        verbose = _VERBOSE if managed or "verbosity" in said else ()
        folder, _, name = script.rpartition("/")
        # The tests of a project are looked for where it is, and imported from there.
        within = ("sh", "-c", f'cd {folder} && exec "$0" "$@"') if managed and folder else ()
        command = (name if within else script, *(["test"] if managed else []), *verbose)
        takes_labels = managed or _TAKES_LABELS.search(said) is not None
        return self._detected(root, f"Found {script}", command, within=within, alone=takes_labels)

    def is_unread(self, _detected: Detected, _test_id: str, said: str) -> bool:
        """By unittest's own words."""
        return is_unread_module(said)

    def _declared(self, root: Path) -> Detected | None:
        """The tests of a package without a project of its own are run with settings that a command names."""
        for command in declared_commands(root):
            if (asked := _asked(command)) is not None:
                why = f"Found `{shlex.join(command)}` in the project's own files"
                return self._detected(root, why, asked, settings=declared_variables(root))
        return None

    def _detected(
        self,
        root: Path,
        why: str,
        command: tuple[str, ...],
        *,
        within: tuple[str, ...] = (),
        settings: Mapping[str, str] = MappingProxyType({}),
        alone: bool = True,
    ) -> Detected:
        python = self.python.interpreter(root, "django")
        return Detected(
            self.name,
            build_for(root, python.path),
            (*within, python.path, *command),
            f"{why}: testing with Django's runner and {python.where}.",
            {
                **{name: value for name, value in settings.items() if name == _SETTINGS},
                "PYTHONPATH": python_path(root, self.python.home, python.asked.paths),
                **version_variables(root),
            },
            python.asked.digest,
            generated=version_files(root, self.python.home),
            alone=alone,
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """Django reports as unittest does."""
        return Unittest().failing_tests(result)

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The test by its dotted name, its label, in place of those of the suite; all where the script takes none."""
        if not detected.alone:
            return detected.test
        without_labels = detected.test
        if _VERBOSE[0] in detected.test:
            without_labels = detected.test[: detected.test.index(_VERBOSE[0]) + len(_VERBOSE)]
        return (*without_labels, test_id)

    def name_in(self, detected: Detected, file: str, inside: Sequence[str]) -> str:
        """The label, from the folder of the script."""
        script = next((each for each in detected.test if each in _RUN), "")
        folder = (
            match[1]
            if (match := _WITHIN.search(" ".join(detected.test)))
            else script.rpartition("/")[0]
        )
        return dotted_name(file, folder, inside)


def _asked(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """What a Python is started with for a command that runs Django's tests; None for any other."""
    if not is_python(command) and command[0] not in _ADMIN:
        return None
    words = command[1:] if is_python(command) else ("-m", "django", *command[1:])
    begin = words.index("-m") if "-m" in words else 0
    tested, options = words[: begin + len(_TESTED)], words[begin + len(_TESTED) :]
    if tested[begin:] != _TESTED:
        return None
    try:
        read, rest = _OPTIONS.parse_known_args(options)
        labels = [each for each in _SHOWN.parse_known_args(rest)[1] if not each.startswith("-")]
    except ArgumentError:
        return None
    chosen = (f"--{name.replace('_', '-')}={value}" for name, value in vars(read).items() if value)
    return (*tested, *chosen, *_VERBOSE, *labels)
