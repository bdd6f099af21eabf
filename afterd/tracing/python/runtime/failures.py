"""Failures as the test runners see them, in one plain form.

A failure is ``{"test", "phase", "type", "message", "frames", "row"}``; ``frames`` are (file, line,
function) of the traceback, outermost first, and ``row`` is how many rows had been written.
"""

from __future__ import annotations

import sys
import unittest
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

Failure = dict[str, Any]
Report = Callable[[Failure], None]

_LAUNCHER = str(Path(__file__).with_name("script.py"))
_LINKS = 20  # of a chain of causes and contexts


def failure(test: str, phase: str, error: BaseException, row: int) -> Failure:
    """The plain form of an exception that a runner caught."""
    return {
        "test": test,
        "phase": phase,
        "type": type(error).__name__,
        "bases": [base.__name__ for base in type(error).__mro__],
        "message": _message(error),
        "name": _missing_name(error),
        "frames": frames(error.__traceback__),
        "chain": _chain(error),
        "row": row,
    }


def frames(traceback: TracebackType | None) -> list[tuple[str, int, str]]:
    """(file, line, function) of each frame, outermost first."""
    found = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        found.append((code.co_filename, traceback.tb_lineno, code.co_qualname))
        traceback = traceback.tb_next
    return found


def _message(error: BaseException) -> str:
    try:
        return str(error)[:4000]
    except Exception:  # noqa: BLE001 # the program's own __str__
        return ""


def _missing_name(error: BaseException) -> str:
    name = getattr(error, "name", None)
    return name if isinstance(name, str) else ""


def _chain(error: BaseException) -> list[tuple[str, str]]:
    """(type, message) of what it was raised from, nearest first."""
    found: list[tuple[str, str]] = []
    seen: BaseException | None = error.__cause__ or error.__context__
    while seen is not None and len(found) < _LINKS:
        found.append((type(seen).__name__, _message(seen)))
        seen = seen.__cause__ or seen.__context__
    return found


def watch_uncaught(report: Report, row: Callable[[], int]) -> None:
    """Report what ends the process; the interpreter prints it as it always did."""
    shown = sys.excepthook

    def hook(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        seen = _without_launcher(traceback)
        error = error.with_traceback(seen)
        report(failure("", "process", error, row()))
        shown(kind, error, seen)

    sys.excepthook = hook


def _without_launcher(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback from the program's own first frame on: ``script.py`` is none of it."""
    first = traceback
    launched = False
    while first is not None:
        name = first.tb_frame.f_code.co_filename
        if name == _LAUNCHER:
            launched = True
        elif launched or "runpy" not in name:
            break
        first = first.tb_next
    return first if launched else traceback


def watch_unittest(report: Report, row: Callable[[], int]) -> None:
    """Report every failure and error of ``unittest``, sub-tests too."""
    result = unittest.TestResult

    def reporting(original: Callable[..., Any], position: int) -> Callable[..., Any]:
        def add(self: unittest.TestResult, *arguments: Any) -> Any:
            error = arguments[position]
            if error is not None:
                test = arguments[0]
                name = test.id() if hasattr(test, "id") else str(test)
                report(failure(name, "call", error[1], row()))
            return original(self, *arguments)

        return add

    for name, position in (("addError", 1), ("addFailure", 1), ("addSubTest", 2)):
        setattr(result, name, reporting(getattr(result, name), position))
