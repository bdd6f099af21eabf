"""A pytest plugin that writes each test's outcome as one line of JSON, as soon as it is known.

It runs in the tested project's own interpreter and environment, whatever those are: it needs only
Python 3.6, pytest 6 or newer and the standard library, knows nothing of afterd, and never makes a test run
fail. A line ``{"id": …, "when": "start"}`` without a later one names the test that took the
process down. Loaded by ``PYTEST_PLUGINS``; does nothing without ``AFTERD_RUN``, below which its file
is, or ``AFTERD_REPORTS``, which is the file.

``AFTERD_SELECTION`` is a file with JSON: the ids ``only`` of which are run (null: all), files, classes and
functions ``within`` which they are (null: anywhere), those to ``skip``, and those that come ``first``.
"""

import json
import linecache
import os
from typing import Any, Dict, List, Tuple

FILE_NAME = "pytest-outcomes.jsonl"

_worker = ""  # the name of this process among pytest-xdist's workers
_collected = ""  # what is being collected


def pytest_configure(config: Any) -> None:  # noqa: ANN401 - pytest may not be importable
    """Learn whether this is a worker; the variable that says it is inherited by what tests start."""
    global _worker  # noqa: PLW0603 - one session in a process
    _worker = getattr(config, "workerinput", {}).get("workerid", "")


def pytest_runtest_setup() -> None:
    """Tell what this test starts nothing of us: a pytest with an import path of its own does not find our plugin.

    Not before: pytest-xdist's workers are told by the same variable.
    """
    told = os.environ.pop("PYTEST_PLUGINS", "").split(",")
    others = [name for name in told if name not in {"", __name__}]
    if others:
        os.environ["PYTEST_PLUGINS"] = ",".join(others)


def pytest_collection_modifyitems(config: Any, items: List[Any]) -> None:  # noqa: ANN401 - as below
    """Leave out what is not asked for, and put first what comes first."""
    selection = _selection()
    only, skip = selection.get("only"), frozenset(selection.get("skip") or ())
    place = {name: number for number, name in enumerate(selection.get("first") or ())}
    wanted = None if only is None else frozenset(only)
    within = selection.get("within")
    left_out = [
        item
        for item in items
        if item.nodeid in skip
        or (wanted is not None and item.nodeid not in wanted)
        or (within is not None and not any(_is_within(item.nodeid, name) for name in within))
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        away = set(map(id, left_out))
        items[:] = [item for item in items if id(item) not in away]
    if place:
        items.sort(key=lambda item: place.get(item.nodeid, len(place)))


def _is_within(test: str, name: str) -> bool:
    return test == name or test.startswith((name + "::", name + "["))


def pytest_collection_finish(session: Any) -> None:  # noqa: ANN401 - as below
    """Say how many tests there are; of several processes each knows all."""
    if _worker in ("", "gw0"):
        _write({"id": "", "when": "collected", "found": len(session.items)})


def pytest_runtest_logstart(nodeid: str) -> None:
    """Say which test is about to run."""
    if not _worker:  # what runs in pytest-xdist's workers is reported by its controller
        _write({"id": nodeid, "when": "start"})


def pytest_runtest_logreport(report: Any) -> None:  # noqa: ANN401 - pytest may not be importable
    """Write a failure in any phase, and the call's outcome."""
    if not _worker and (report.failed or report.when == "call" or report.skipped):
        _write(_described_report(report, report.when))


def pytest_collectstart(collector: Any) -> None:  # noqa: ANN401 - as above
    """Keep what is collected: where that ends pytest itself, there is no report."""
    global _collected  # noqa: PLW0603 - as above
    _collected = collector.nodeid


def pytest_internalerror(excinfo: Any) -> None:  # noqa: ANN401 - as above
    """Write what ended pytest: a module that exits while it is imported, most of all."""
    _write_end(excinfo)


def pytest_keyboard_interrupt(excinfo: Any) -> None:  # noqa: ANN401 - as above
    """Write what ended pytest by ``pytest.exit``."""
    if not isinstance(excinfo.value, KeyboardInterrupt):
        _write_end(excinfo)


def _write_end(excinfo: Any) -> None:  # noqa: ANN401 - as above
    if _worker:
        return
    frames, traceback = [], excinfo.value.__traceback__
    while traceback is not None:
        path, line = os.path.abspath(traceback.tb_frame.f_code.co_filename), traceback.tb_lineno  # noqa: PTH100 - old interpreters
        frames.append((path, line, linecache.getline(path, line).strip()))
        traceback = traceback.tb_next
    message = f"{type(excinfo.value).__name__}: {excinfo.value}"[:4000]
    ended = {"outcome": "failed", "when": "end", "message": message, "frames": frames}
    _write({"id": _collected, **ended})


def pytest_collectreport(report: Any) -> None:  # noqa: ANN401 - as above
    """Write what could not be imported."""
    if not _worker and report.failed:
        _write(_described_report(report, "collect"))


def _described_report(report: Any, when: str) -> Dict[str, Any]:  # noqa: ANN401 - as above
    described = {"id": report.nodeid, "outcome": report.outcome, "when": when}
    if report.failed:
        shown = getattr(report, "longrepr", None)
        crash = getattr(shown, "reprcrash", None)
        described["message"] = str(getattr(crash, "message", shown))[:4000]
        described["frames"] = _frames(shown, crash)
    return described


def _frames(shown: Any, crash: Any) -> List[Tuple[str, int, str]]:  # noqa: ANN401 - as above
    """Path, line number and line of each frame, as far as --tb shows them; the crash is last."""
    entries = getattr(getattr(shown, "reprtraceback", None), "reprentries", None) or []
    places = [getattr(entry, "reprfileloc", None) for entry in entries] + [crash]
    frames = []
    for place in places:
        if place is not None:
            path = os.path.abspath(place.path)  # noqa: PTH100 - old interpreters
            frames.append((path, place.lineno, linecache.getline(path, place.lineno).strip()))
    return frames


def _selection() -> Dict[str, Any]:
    try:
        with open(os.environ.get("AFTERD_SELECTION", ""), encoding="utf-8") as file:  # noqa: PTH123 - old interpreters
            return dict(json.load(file))
    except (OSError, ValueError, TypeError):
        return {}


def _write(line: Dict[str, Any]) -> None:
    directory = os.environ.get("AFTERD_RUN")
    if not directory:
        return
    path = os.environ.get("AFTERD_REPORTS") or os.path.join(directory, FILE_NAME)  # noqa: PTH118 - as above
    try:
        # Opened for each line: pytest-xdist's workers and forked tests write to the same file.
        with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123 - as above
            file.write(json.dumps(line) + "\n")
    except OSError:
        return
