"""Temporary files of afterd and of what it runs: one directory a process, which nobody outlives.

Its owner holds a lock on it, which the kernel gives back however the owner dies: a directory whose
lock is free belongs to a process that was killed, and the next one that starts removes it. It lies
in the system's temporary directory and not below a repository's: paths there are short enough for
sockets, and no test finds itself inside somebody's ``.git``.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from afterd.errors import SpaceError

_PREFIX = "afterd-scratch."  # nobody else's: with "afterd." a clone in /tmp/afterd.old went too
RUN_FOLDER = "afterd-run-"
"""What the name of the folder of one run begins with, in that directory."""


@contextmanager
def scratch() -> Iterator[Path]:
    """Have all temporary files of this process in a directory of its own until the end.

    What killed processes of this user left there before goes. Raises SpaceError where no directory
    can be made.
    """
    before = tempfile.tempdir
    where = Path(tempfile.gettempdir())
    _sweep(where)
    try:
        path, descriptor = _owned_directory(where)
    except OSError as error:
        raise SpaceError(
            f"Cannot make a directory for runs in {where}: {error.strerror};"
            " free some space there or set TMPDIR."
        ) from error
    tempfile.tempdir = str(path)
    try:
        yield path
    finally:
        tempfile.tempdir = before
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def _owned_directory(where: Path) -> tuple[Path, int]:
    """A new directory, and the descriptor that holds its lock."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=where))
        with suppress(FileNotFoundError):  # somebody swept it before it was locked: another one
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if path.exists():
                return path, descriptor
            os.close(descriptor)


def _sweep(where: Path) -> None:
    """Remove the directories of this user that nobody holds."""
    for path in where.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # somebody else's, or held, or gone
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(descriptor).st_uid == os.geteuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(descriptor)
