"""Which processes a recorded one starts, at which of its rows, and who its own ancestors are.

Not by an audit hook, for the reason that ``session`` gives for threads.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

Anything = Any  # passed on as it is
Started = Callable[[int], None]

_FORKING = ("fork", "forkpty", "posix_spawn", "posix_spawnp")
"""Functions of ``os`` that give the number of the process that they started, alone or first in a tuple."""


def ancestor_processes() -> list[int]:
    """The numbers of the processes that this one was started below, the nearest first; where the system does not say,
    its parent alone.
    """
    found = [os.getppid()]
    with suppress(OSError, ValueError, IndexError):
        while found[-1] > 1:
            told = Path(f"/proc/{found[-1]}/stat").read_text(encoding="utf-8", errors="replace")
            found.append(int(told.rpartition(")")[2].split()[1]))
    return found


def is_pool_worker() -> bool:
    """Whether this process, which was forked just now, is a worker of ``multiprocessing.Pool``."""
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - the documented way to the callers' frames
    while frame is not None:
        if frame.f_globals.get("__name__") == "multiprocessing.pool":
            return True
        frame = frame.f_back
    return False


def before_immediate_exit(act: Callable[[], None]) -> None:
    """Have ``act`` done before ``os._exit``, which is how a fork ends, and runs no exit functions."""
    original = os._exit

    @wraps(original)
    def leave(status: int) -> NoReturn:
        act()
        original(status)

    os._exit = leave


def watch_forks(started: Started) -> None:
    """Tell of each process that the functions of ``os`` start."""
    for name in _FORKING:
        original = getattr(os, name, None)
        if original is not None:
            setattr(os, name, _telling(original, started))


def watch_subprocess(started: Started) -> None:
    """Tell of each process that ``subprocess``, which was imported by now, starts."""
    subprocess: Anything = sys.modules["subprocess"]
    starter: Anything = getattr(subprocess, "_posixsubprocess", sys.modules.get("_posixsubprocess"))
    if starter is None:
        return
    starter.fork_exec = _telling(starter.fork_exec, started)
    if hasattr(subprocess, "_fork_exec"):  # a name of its own, from 3.11 on
        subprocess._fork_exec = starter.fork_exec  # noqa: SLF001 - it is what Popen calls


def _telling(original: Callable[..., Any], started: Started) -> Callable[..., Any]:
    @wraps(original)
    def start(*arguments: Anything, **named: Anything) -> Anything:
        given = original(*arguments, **named)
        process = given[0] if isinstance(given, tuple) else given
        if process:
            started(process)
        return given

    return start
