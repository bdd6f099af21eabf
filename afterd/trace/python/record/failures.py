"""Failures as the test runners see them, in one plain form.

A failure is ``{"test", "phase", "type", "message", "frames", "judged", "row"}``; ``frames`` are (file, line,
function) of the traceback, outermost first, ``judged`` the innermost that is of no library as (file, line,
text), and ``row`` is how many rows had been written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from .awaited import awaited, qualified_name
from .doctests import raised_by_doctest, told_by_doctest

if TYPE_CHECKING:
    from typing import TypeAlias

Anything = Any  # a value of the traced program

Failure: TypeAlias = "dict[str, Any]"
Report: TypeAlias = "Callable[[Failure], None]"

HANG = "Hang"
_LAUNCHER = str(Path(__file__).with_name("script.py"))
_LIBRARY = str(Path(os.__file__).parent)
_INSTALLED = ("/site-packages/", "/dist-packages/")
_LINKS = 20  # of a chain of causes and contexts
_LINE = 400  # characters of a line


def failure(test: str, phase: str, error: BaseException, row: int) -> Failure:
    """The plain form of an exception that a runner caught."""
    error = raised_by_doctest(error)
    return {
        "test": test,
        "phase": phase,
        "type": type(error).__name__,
        "bases": [base.__name__ for base in type(error).__mro__],
        "message": _message(error),
        "name": _missing_name(error),
        "frames": frames(error.__traceback__),
        "judged": _judged(error.__traceback__),
        "chain": _chain(error),
        "row": row,
        **told_by_doctest(error),
    }


def frames(traceback: TracebackType | None) -> list[tuple[str, int, str]]:
    """(file, line, function) of each frame, outermost first."""
    found = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        found.append((code.co_filename, traceback.tb_lineno, qualified_name(code)))
        traceback = traceback.tb_next
    return found


def _judged(traceback: TracebackType | None) -> tuple[str, int, str] | None:
    """Where, as far as is known, somebody who is no library found fault; None where nobody is on the way."""
    found = None
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith((_LIBRARY, "<")) and not any(part in file for part in _INSTALLED):
            found = (file, traceback.tb_lineno)
        traceback = traceback.tb_next
    if found is None or found[0] == _LAUNCHER:
        return None
    return (*found, _line(*found))


def _line(file: str, number: int) -> str:
    try:
        lines = Path(file).read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[number - 1].strip()[:_LINE] if number <= len(lines) else ""


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


def hang(frame: FrameType | None, row: int, *, waits: bool) -> Failure:
    """The plain form of not having come to an end, ``frame`` being executed; ``waits``: no rows came any more."""
    found: list[tuple[str, int, str]] = []
    suspended: list[tuple[str, int, str]] = []
    while frame is not None:
        code = frame.f_code
        found.append((code.co_filename, frame.f_lineno, qualified_name(code)))
        suspended = suspended or awaited(frame)
        frame = frame.f_back
    said = {"test": "", "phase": "process", "type": HANG, "bases": [HANG], "name": "", "chain": []}
    return {
        **said,
        "message": "it does not end",
        "frames": [*found[::-1], *suspended],
        "row": row,
        "waits": waits,
    }


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


def watch_unittest(
    report: Report,
    row: Callable[[], int],
    begin: Callable[[], None],
    ended: Callable[[str, int, bool], None],
) -> None:
    """Report every failure and error of ``unittest``, sub-tests too, and where tests end."""
    result: Anything = sys.modules["unittest.result"].TestResult  # not imported on its account
    failed: set[str] = set()
    began: dict[str, int] = {}
    unloaded = watch_loading()

    def reporting(original: Callable[..., Any], position: int) -> Callable[..., Any]:
        def add(self: object, *arguments: Anything) -> Anything:
            error = arguments[position]
            if error is not None:
                name = _test_name(arguments[0])
                failed.add(name)
                raised = next((met for told, met in unloaded if told is error[1]), error[1])
                report(failure(name, "call", raised, row()))
            return original(self, *arguments)

        return add

    def start(self: object, test: object) -> Anything:
        began[_test_name(test)] = row()
        begin()
        return original_start(self, test)

    def stop(self: object, test: object) -> Anything:
        name = _test_name(test)
        ended(name, began.pop(name, 0), name not in failed)
        return original_stop(self, test)

    original_start, original_stop = result.startTest, result.stopTest
    result.startTest = start
    result.stopTest = stop
    for name, position in (("addError", 1), ("addFailure", 1), ("addSubTest", 2)):
        setattr(result, name, reporting(getattr(result, name), position))


def watch_loading() -> list[tuple[object, BaseException]]:
    """What ``unittest`` will say of each module that it cannot import, beside what that raised; grows as it loads."""
    loader: Anything = sys.modules["unittest.loader"]
    original = loader._make_failed_import_test  # noqa: SLF001 - nothing else is told where it is caught
    found: list[tuple[object, BaseException]] = []

    def made(name: str, suite: Anything) -> Anything:
        raised = sys.exc_info()[1]
        tests, message = original(name, suite)
        if raised is not None:
            found.extend((getattr(test, "_exception", None), raised) for test in tests)
        return tests, message

    loader._make_failed_import_test = made  # noqa: SLF001
    return found


def _test_name(test: object) -> str:
    name = getattr(test, "id", None)
    return str(name()) if callable(name) else str(test)
