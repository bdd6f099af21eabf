"""pytest under the tracer: its reports are noted."""

from __future__ import annotations

import sys
from collections.abc import Generator

import pytest

from .failures import failure
from .fixtures import SharedFixtures
from .session import Session, current_session

_failed: set[str] = set()
_skipped: set[str] = set()


def _note(session: Session, test: str, phase: str, error: BaseException) -> None:
    session.failures.append(failure(test, phase, error, session.recorder.row))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Where each test's rows begin and end."""
    session = current_session()
    if session is None:
        return (yield)
    first = session.recorder.row
    _failed.discard(item.nodeid)
    _skipped.discard(item.nodeid)
    session.begin_test()
    result = yield
    failed = item.nodeid in _failed
    if failed or session.counter is None or item.nodeid not in _skipped:
        session.end_test(item.nodeid, first, not failed)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed phase of a test; skips and expected failures are none, nor has such a test passed."""
    report = yield
    session = current_session()
    if report.skipped:
        _skipped.add(item.nodeid)
    if report.failed:  # without an exception where one was expected
        _failed.add(item.nodeid)
        if session and call.excinfo is not None:
            _note(session, item.nodeid, report.when, call.excinfo.value)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A module that cannot be collected."""
    report = yield
    session = current_session()
    call = getattr(report, "call", None)
    if session and report.failed and call is not None and call.excinfo is not None:
        error = call.excinfo.value
        _note(session, collector.nodeid, "collect", error.__cause__ or error)
    return report


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
