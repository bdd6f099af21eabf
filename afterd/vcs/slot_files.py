"""Writing below a slot: never through a link, never outside, with times that builds can trust."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path

from afterd.errors import SpaceError, StoreError
from afterd.vcs.trees import Entry

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


class SlotFiles:
    """The files below one directory, addressed by paths as git has them.

    The directories above a path are looked at before it is used: a test may have put a link where
    one of them was, and what is written "below" would land in somebody else's files.
    """

    def __init__(self, root: Path) -> None:
        self._root = os.fsencode(root) + b"/"
        self._real: set[bytes] = set()  # directories seen to be ones since ``forget``
        self._seconds: dict[bytes, int] = {}  # of the last change of sources that were taken away

    def forget(self) -> None:
        """Look at every directory again: programs ran in between."""
        self._real.clear()

    def status(self, path: bytes) -> os.stat_result | None:
        """What stands at ``path`` itself, below real directories; None for nothing."""
        if not self._is_reachable(path):
            return None
        try:
            return os.lstat(self._root + path)
        except FileNotFoundError:
            return None

    def holds(self, path: bytes, entry: Entry, content: bytes) -> bool:
        """Whether ``path`` is exactly this file, link or (of a submodule) directory."""
        status = self.status(path)
        if status is None:
            return False
        if entry.is_submodule:
            return stat.S_ISDIR(status.st_mode)
        if entry.is_link:
            return stat.S_ISLNK(status.st_mode) and self._target(path) == content
        return (
            stat.S_ISREG(status.st_mode)
            and status.st_size == len(content)
            and bool(status.st_mode & 0o100) == entry.is_executable
            and self._read(path) == content
        )

    def write(self, path: bytes, entry: Entry, content: bytes) -> None:
        """Put a new file, link or (for a submodule) empty directory at ``path``."""
        self._make_parents(path)
        if entry.is_submodule:
            self._make_directory(path)
            return
        self.remove(path)
        if entry.is_link:
            self._at(path).symlink_to(os.fsdecode(content))
            return
        mode = 0o777 if entry.is_executable else 0o666
        with os.fdopen(os.open(self._at(path), _NEW_FILE, mode), "wb") as file:
            file.write(content)
        self._drop_bytecode(path)
        self._advance(path)

    def remove(self, path: bytes) -> None:
        """Take away what stands at ``path``, if anything does."""
        status = self.status(path)
        if status is None:
            return
        if stat.S_ISDIR(status.st_mode):
            remove_directory(self._at(path))
            self.forget()
        else:
            self._at(path).unlink()
            self._drop_bytecode(path)
            if path.endswith(b".py"):
                self._seconds[path] = int(status.st_mtime)

    def remove_empty(self, directory: bytes) -> None:
        """Remove ``directory`` and those above it, as far as nothing is left in them."""
        while directory:
            try:
                self._at(directory).rmdir()
            except FileNotFoundError:
                pass
            except OSError:  # not empty, or no directory: it stays
                return
            self._real.discard(directory)
            directory = parent_of(directory)

    def _at(self, path: bytes) -> Path:
        return Path(os.fsdecode(self._root + path))

    def _target(self, path: bytes) -> bytes:
        return os.readlink(self._root + path)  # noqa: PTH115 - a Path would normalise the target

    def _read(self, path: bytes) -> bytes | None:
        try:
            with os.fdopen(os.open(self._at(path), os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                return file.read()
        except PermissionError:
            return None

    def _is_reachable(self, path: bytes) -> bool:
        """Whether all directories above ``path`` are real; those that a test locked are opened."""
        parent = parent_of(path)
        if not parent or parent in self._real:
            return True
        status = self.status(parent)
        if status is None or not stat.S_ISDIR(status.st_mode):
            return False
        if status.st_mode & 0o700 != 0o700:
            self._at(parent).chmod(stat.S_IMODE(status.st_mode) | 0o700)
        self._real.add(parent)
        return True

    def _make_parents(self, path: bytes) -> None:
        parent = parent_of(path)
        if parent and parent not in self._real:
            self._make_parents(parent)
            self._make_directory(parent)
            self._real.add(parent)

    def _make_directory(self, path: bytes) -> None:
        status = self.status(path)
        if status is not None and not stat.S_ISDIR(status.st_mode):
            self._at(path).unlink()
            status = None
        if status is None:
            self._at(path).mkdir()

    def _drop_bytecode(self, path: bytes) -> None:
        """CPython trusts a .pyc whose recorded size and *whole second* of change agree with the
        source's; two variants of a line within one second do.
        """
        if not path.endswith(b".py"):
            return
        source = self._at(path)
        for compiled in (source.parent / "__pycache__").glob(f"{escape(source.stem)}.*.pyc"):
            compiled.unlink()

    def _advance(self, path: bytes) -> None:
        """Date a source a whole second later than the one it replaces: a .pyc may also lie where
        ``sys.pycache_prefix`` says, out of our reach.
        """
        written, before = self._at(path), self._seconds.get(path)
        if before is not None and written.stat().st_mtime < before + 1:
            os.utime(written, (before + 1, before + 1))


def parent_of(path: bytes) -> bytes:
    """The directory of a path as git has it; b'' for one at the root."""
    return path.rpartition(b"/")[0]


def remove_directory(path: Path) -> None:
    """Remove a directory and all below it, also what a test made unreadable; links stay links."""
    try:
        shutil.rmtree(path)
    except PermissionError:
        path.chmod(0o700)
        for directory, names, _ in os.walk(path):
            for below in (Path(directory, name) for name in names):
                if not below.is_symlink():
                    below.chmod(0o700)
        shutil.rmtree(path)


def tick(path: Path) -> None:
    """Touch ``path`` until the file system's clock has moved on.

    A file system stamps files with a clock that ticks every few milliseconds. Make rebuilds what is
    *older*, so an object built in the tick in which its source is then written would be kept.
    """
    os.utime(path)
    before = os.lstat(path).st_mtime_ns
    while os.lstat(path).st_mtime_ns == before:
        time.sleep(0.001)
        os.utime(path)


@contextmanager
def explained(root: Path) -> Iterator[None]:
    """Turn the operating system's refusals into sentences: SpaceError or StoreError."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise SpaceError(
                f"No space is left on the device that holds {root}. Make room and run it again; "
                "what was written so far is checked then."
            ) from error
        raise StoreError(
            f"The work tree {root} cannot be written ({error.strerror}). Remove it and try again."
        ) from error
