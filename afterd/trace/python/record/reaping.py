"""Ending what a fork leaves behind: its orphans become ours, because we are their reaper."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from pathlib import Path

_SUBREAPER = 36  # prctl's number
_PIDFD_OPEN = 434  # the system call's number, on every processor


def become_reaper() -> None:
    """From now on orphans below this process become its children."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1)


def sweep() -> None:
    """End every child, and what becomes a child by that, until there is none."""
    while True:
        try:
            done, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not done:
            for orphan in children():
                os.kill(orphan, signal.SIGKILL)
            time.sleep(0.001)


def ending_of(child: int) -> int:
    """A descriptor that can be read once a child has ended; Python 3.8 has no ``os.pidfd_open``."""
    opened = getattr(os, "pidfd_open", None)
    if opened is not None:
        return int(opened(child))
    found = int(ctypes.CDLL(None, use_errno=True).syscall(_PIDFD_OPEN, child, 0))
    if found < 0:
        raise OSError(ctypes.get_errno(), "pidfd_open")
    return found


def exit_code(status: int) -> int:
    """What ``os.waitpid`` told, as an exit status, or less than 0 for the signal that ended it (Python 3.8 has no
    ``os.waitstatus_to_exitcode``).
    """
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)


def children() -> list[int]:
    """The processes that this one would have to wait for."""
    text = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    return [int(word) for word in text.split()]
