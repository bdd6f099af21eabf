"""Which processes a recorded one starts, at which of its rows, and who its own ancestors are.

Not by an audit hook, for the reason that ``session`` gives for threads.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from .settings import VARIABLE

if TYPE_CHECKING:
    from typing import TypeAlias

Anything = Any  # passed on as it is
Started: TypeAlias = "Callable[[int], None]"

_FORKING = ("fork", "forkpty", "posix_spawn", "posix_spawnp")
"""Functions of ``os`` that give the number of the process that they started, alone or first in a tuple."""


_SEARCHED = b"PYTHONPATH"
_OWN_FOLDER = os.fsencode(Path(__file__).resolve().parent.parent)
"""What a process has on its import path to be recorded."""
_AT = {"fork_exec": 5, "posix_spawn": 2, "posix_spawnp": 2}
"""Which argument of a function is the environment of the process that it starts."""


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


def with_own_folder(environment: Anything) -> Anything:
    """The environment that a process is given, by names or as ``NAME=value``, as it records itself: a test that sets an
    import path for what it starts leaves the rest as it is, our settings among it. What is not for us is as it was.
    """
    pairs = environment.items() if isinstance(environment, dict) else _pairs(environment or ())
    values = {os.fsencode(name): os.fsencode(value) for name, value in pairs}
    folders = values.get(_SEARCHED, b"").split(os.fsencode(os.pathsep))
    if os.fsencode(VARIABLE) not in values or _OWN_FOLDER in folders:
        return environment
    values[_SEARCHED] = os.fsencode(os.pathsep).join(filter(None, [_OWN_FOLDER, *folders]))
    if isinstance(environment, dict):
        return values
    return [name + b"=" + value for name, value in values.items()]


def _pairs(environment: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    for each in environment:
        name, _, value = each.partition(b"=")
        yield name, value


def _telling(original: Callable[..., Any], started: Started) -> Callable[..., Any]:
    at = _AT.get(original.__name__)

    @wraps(original)
    def start(*arguments: Anything, **named: Anything) -> Anything:
        if at is not None and len(arguments) > at:
            with suppress(
                TypeError, ValueError, AttributeError
            ):  # what the original refuses as well
                own = with_own_folder(arguments[at])
                arguments = (*arguments[:at], own, *arguments[at + 1 :])
        given = original(*arguments, **named)
        process = given[0] if isinstance(given, tuple) else given
        if process:
            started(process)
        return given

    return start
