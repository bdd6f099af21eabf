"""pytest under the tracer: its reports are noted.

Wrappers are of the old kind (``hookwrapper``), which every pytest knows: those with ``wrapper`` need a pluggy of
2023, and where pytest is older its tests would not even be collected.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from typing import Any

import pytest

from .failures import failure
from .fixtures import SharedFixtures
from .session import Session, current_session

Told = Any  # pluggy's result of the hooks inside, whose class older versions keep to themselves
_failed: set[str] = set()
_skipped: set[str] = set()


def _note(session: Session, test: str, phase: str, error: BaseException) -> None:
    session.failures.append(failure(test, phase, error, session.recorder.row))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Told, None]:
    """Where each test's rows begin and end."""
    session = current_session()
    if session is None:
        yield
        return
    first = session.recorder.row
    _failed.discard(item.nodeid)
    _skipped.discard(item.nodeid)
    session.begin_test()
    told = yield
    failed = item.nodeid in _failed
    if told.excinfo is None and (failed or session.counter is None or item.nodeid not in _skipped):
        session.end_test(item.nodeid, first, not failed)


def pytest_runtest_setup() -> None:
    """A pytest that the test starts with an import path of its own does not find this plugin."""
    told = os.environ.pop("PYTEST_PLUGINS", "").split(",")
    if others := [name for name in told if name not in {"", __name__}]:
        os.environ["PYTEST_PLUGINS"] = ",".join(others)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Told, None]:
    """A failed phase of a test; skips and expected failures are none, nor has such a test passed."""
    told = yield
    if told.excinfo is not None:
        return
    report: pytest.TestReport = told.get_result()
    session = current_session()
    if report.skipped:
        _skipped.add(item.nodeid)
    if report.failed:  # without an exception where one was expected
        _failed.add(item.nodeid)
        if session and call.excinfo is not None:
            _note(session, item.nodeid, report.when, call.excinfo.value)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Told, None]:
    """A module that cannot be collected."""
    told = yield
    if told.excinfo is not None:
        return
    report: pytest.CollectReport = told.get_result()
    session = current_session()
    call = getattr(report, "call", None)
    if session and report.failed and call is not None and call.excinfo is not None:
        _note(session, collector.nodeid, "collect", _raised_inside(call.excinfo.value))


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests() -> Generator[None, Told, None]:
    """A conftest.py that cannot be imported: no test of the run is."""
    told = yield
    session = current_session()
    if session and told.excinfo is not None:
        _note(session, "", "collect", _raised_inside(told.excinfo[1]))


def pytest_internalerror(excinfo: pytest.ExceptionInfo[BaseException]) -> None:
    """What ended pytest: a module that exits while it is imported, most of all."""
    if session := current_session():
        _note(session, "", "collect", excinfo.value)


def pytest_keyboard_interrupt(excinfo: pytest.ExceptionInfo[BaseException]) -> None:
    """What ended pytest by ``pytest.exit``."""
    session = current_session()
    if session and not isinstance(excinfo.value, KeyboardInterrupt):
        _note(session, "", "collect", excinfo.value)


def _raised_inside(error: BaseException) -> BaseException:
    """What pytest's own exception was made for: newer ones hold it, older ones as it was caught."""
    caught = getattr(error, "excinfo", None)
    inside = getattr(error, "cause", None) or (caught[1] if isinstance(caught, tuple) else None)
    return inside or error.__cause__ or error


@pytest.hookimpl(tryfirst=True)  # what shuffles tests does it another way in each process
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A process that counts runs its share of what was collected."""
    session = current_session()
    if session is None or session.counter is None:
        return
    mine = session.share([item.nodeid.partition("::")[0] for item in items])
    others = items[: mine.start] + items[mine.stop :]
    if others:
        items[:] = items[mine.start : mine.stop]
        config.hook.pytest_deselected(items=others)


def pytest_collection_finish(session: pytest.Session) -> None:
    """How many tests will be run."""
    counting = current_session()
    if counting is not None and counting.counter is not None:
        counting.tally.announce(len(session.items))


def pytest_configure(config: pytest.Config) -> None:
    """One process: a trace of xdist's controller would hold nothing."""
    session = current_session()
    if session is None:
        return
    if session.counter is not None:
        config.pluginmanager.register(SharedFixtures(session.counter))
    if "xdist" in sys.modules:
        config.option.dist = "no"
        config.option.tx = []
        config.option.numprocesses = None
