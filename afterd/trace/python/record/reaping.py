"""Ending what a fork leaves behind: its orphans become ours, because we are their reaper."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from pathlib import Path

_SUBREAPER = 36  # prctl's number


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


def children() -> list[int]:
    """The processes that this one would have to wait for."""
    text = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    return [int(word) for word in text.split()]
