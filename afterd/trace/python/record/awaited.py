"""Where the tasks of a loop of asyncio wait: a coroutine that is suspended is on no stack."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType
from typing import Any

Anything = Any  # of the program, or of whatever it awaits

_RUNS_A_TASK = "run_until_complete"
_DEEP = 100  # coroutines, or tasks, that await each other


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
    return [(at.f_code.co_filename, at.f_lineno, at.f_code.co_qualname) for at in found]


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
