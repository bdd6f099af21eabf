"""Where the tasks of a loop of asyncio wait: a coroutine that is suspended is on no stack."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

Anything = Any  # of the program, or of whatever it awaits

_RUNS_A_TASK = "run_until_complete"
_DEEP = 100  # coroutines, or tasks, that await each other


def qualified_name(code: CodeType) -> str:
    """A function's name with its class's; before Python 3.11 a code has only its own."""
    return str(getattr(code, "co_qualname", code.co_name))


def awaited(frame: FrameType) -> list[tuple[str, int, str]]:
    """(file, line, function) of the suspended coroutines that a frame runs a loop for, the outermost first."""
    if frame.f_code.co_name != _RUNS_A_TASK:
        return []
    found: list[FrameType] = []
    task = frame.f_locals.get("future")
    for _ in range(_DEEP):
        coroutine = getattr(task, "get_coro", None)
        if not callable(coroutine):
            break
        found.extend(_suspended(coroutine()))
        task = getattr(task, "_fut_waiter", None)  # what asyncio's own debugging shows of a task
    return [(at.f_code.co_filename, at.f_lineno, qualified_name(at.f_code)) for at in found]


def _suspended(coroutine: Anything) -> Iterator[FrameType]:
    """The frames of a coroutine and of those that it awaits, the outermost first."""
    for _ in range(_DEEP):
        for kind in ("cr", "ag", "gi"):
            if isinstance(at := getattr(coroutine, f"{kind}_frame", None), FrameType):
                yield at
                break
        else:
            return
        coroutine = getattr(coroutine, "gi_yieldfrom" if kind == "gi" else f"{kind}_await", None)
