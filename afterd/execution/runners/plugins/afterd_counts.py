"""A pytest plugin that gives each test a directory for what the programs it starts count.

Like ``afterd_outcomes`` it needs only Python 3.6, pytest 6 or newer and the standard library, and never makes a
test run fail. Programs built by afterd-cc count into ``$AFTERD_COUNTS``; it names a directory below
its first value while a test runs, and a file there says which test that was and how it ended. A skipped
test and one that was expected to fail have no such file. Loaded by ``PYTEST_PLUGINS``.
"""

import json
import os
from typing import Any

VARIABLE = "AFTERD_COUNTS"
FILE_NAME = "pytest-test.json"

_base = os.environ.get(VARIABLE, "")
_begun = 0
_failed = False
_undecided = False


def pytest_runtest_logstart() -> None:
    """A directory of its own, from setup to teardown."""
    global _begun, _failed, _undecided  # noqa: PLW0603 - one test at a time in a process
    if not _base:
        return
    _begun += 1
    _failed = _undecided = False
    directory = os.path.join(_base, f"{os.getpid()}-{_begun}")  # noqa: PTH118 - as in afterd_outcomes
    try:
        os.mkdir(directory)  # noqa: PTH102 - as above
    except OSError:
        return
    os.environ[VARIABLE] = directory


def pytest_runtest_logreport(report: Any) -> None:  # noqa: ANN401 - pytest may not be importable
    """Whether a phase failed."""
    global _failed, _undecided  # noqa: PLW0603 - as above
    _failed = _failed or report.failed
    _undecided = _undecided or report.skipped


def pytest_runtest_logfinish(nodeid: str) -> None:
    """Say which test it was."""
    directory = os.environ.get(VARIABLE, "")
    if not _base or directory == _base:
        return
    os.environ[VARIABLE] = _base
    if _failed or not _undecided:
        try:
            with open(os.path.join(directory, FILE_NAME), "w", encoding="utf-8") as file:  # noqa: PTH118, PTH123 - as above
                json.dump({"id": nodeid, "failed": _failed}, file)
        except OSError:
            return
