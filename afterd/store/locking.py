"""One writer and one checkpointer at a time, also across processes.

SQLite before 3.51.3 can corrupt a database when two connections checkpoint at once (the WAL-reset
bug, reliability section 6). An advisory lock around every write transaction and its checkpoint
rules that out, whichever SQLite Python was built with. The kernel gives the lock back when its
holder dies, however it dies.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from afterd.errors import StoreError


@contextmanager
def write_lock(path: Path, patience: float) -> Iterator[None]:
    """Hold the lock file at ``path``; raises StoreError after ``patience`` seconds of waiting.

    The file is opened anew each time: a descriptor kept open would be inherited by a fork, and the
    lock with it.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(
            f"The lock {path} cannot be opened ({error.strerror}). Check who owns its folder."
        ) from error
    try:
        _acquire(descriptor, path, patience)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, path: Path, patience: float) -> None:
    deadline = time.monotonic() + patience
    pause = 0.0005
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StoreError(
                    f"Another afterd has been writing for {patience:g} s and holds {path}. "
                    "Wait for it or end it."
                ) from None
            time.sleep(pause)
            pause = min(pause * 2, 0.02)
        else:
            return
