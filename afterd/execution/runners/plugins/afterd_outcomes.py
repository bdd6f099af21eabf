"""A pytest plugin that writes each test's outcome as one line of JSON, as soon as it is known.

It runs in the tested project's own interpreter and environment, whatever those are: it needs only
pytest 6 or newer and the standard library, knows nothing of afterd, and never makes a test run
fail. A line ``{"id": …, "when": "start"}`` without a later one names the test that took the
process down. Loaded by ``PYTEST_PLUGINS``; does nothing without ``AFTERD_RUN``.
"""

from __future__ import annotations

import json
import linecache
import os
from typing import Any

FILE_NAME = "pytest-outcomes.jsonl"


def pytest_runtest_logstart(nodeid: str) -> None:
    """Say which test is about to run."""
    _write({"id": nodeid, "when": "start"})


def pytest_runtest_logreport(report: Any) -> None:  # noqa: ANN401 - pytest may not be importable
    """Write a failure in any phase, and the call's outcome."""
    if report.failed or report.when == "call" or report.skipped:
        _write(_described(report) | {"when": report.when})


def pytest_collectreport(report: Any) -> None:  # noqa: ANN401 - as above
    """Write what could not be imported."""
    if report.failed:
        _write(_described(report) | {"when": "collect"})


def _described(report: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    described = {"id": report.nodeid, "outcome": report.outcome}
    if report.failed:
        shown = getattr(report, "longrepr", None)
        crash = getattr(shown, "reprcrash", None)
        described["message"] = str(getattr(crash, "message", shown))[:4000]
        described["frames"] = _frames(shown, crash)
    return described


def _frames(shown: Any, crash: Any) -> list[tuple[str, int, str]]:  # noqa: ANN401 - as above
    """Path, line number and line of each frame, as far as --tb shows them; the crash is last."""
    entries = getattr(getattr(shown, "reprtraceback", None), "reprentries", None) or []
    places = [getattr(entry, "reprfileloc", None) for entry in entries] + [crash]
    frames = []
    for place in places:
        if place is not None:
            path = os.path.abspath(place.path)  # noqa: PTH100 - old interpreters
            frames.append((path, place.lineno, linecache.getline(path, place.lineno).strip()))
    return frames


def _write(line: dict[str, Any]) -> None:
    directory = os.environ.get("AFTERD_RUN")
    if not directory:
        return
    try:
        # Opened for each line: pytest-xdist's workers and forked tests write to the same file.
        with open(os.path.join(directory, FILE_NAME), "a", encoding="utf-8") as file:  # noqa: PTH118, PTH123 - old interpreters
            file.write(json.dumps(line) + "\n")
    except OSError:
        return
