"""One daemon a repository: a lock that its holder's death gives back, with the holder's name in it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from afterd.errors import BusyError

LOCK = "daemon.lock"
_PAUSE = 0.05


@contextmanager
def only_one(state: Path) -> Iterator[None]:
    """Be the daemon of a state directory; raises BusyError naming the one there is.

    The kernel gives the lock back however its holder dies, so that there is no stale one.
    """
    path = state / LOCK
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(
                f"A daemon watches this repository already: process {_holder_in_lock(path) or '?'} "
                f"(it holds {path})."
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def running(state: Path) -> int | None:
    """The process that is the daemon of a state directory now; None: there is none."""
    path = state / LOCK
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder_in_lock(path)
    finally:
        os.close(descriptor)
    return None


def wait_for(state: Path, seconds: float, *, up: bool) -> int | None:
    """Wait until a daemon is there (``up``), or gone; the process, or None where it is not there."""
    deadline = time.monotonic() + seconds
    while (process := running(state)) is None if up else running(state) is not None:
        if time.monotonic() > deadline:
            break
        time.sleep(_PAUSE)
    return process if up else running(state)


def _holder_in_lock(path: Path) -> int | None:
    """The process in the lock file; None for a moment while it is written."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
