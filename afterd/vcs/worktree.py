"""Slots: directories moved from tree to tree by writing only the files that differ.

An incremental build stays incremental, and untracked build products stay where they are. A marker
beside the directory says which tree it holds; while a move is under way it says so, and whoever
finds it like that (the process was killed) compares every file with its content.

Blobs are written as they are: no line-end conversion, no smudge filter, no Git LFS. A submodule is what
its commit holds where the repository can read that (the user checked it out), else an empty directory.

Writing below a slot: never through a link, never outside, with times that builds can trust.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from glob import escape
from pathlib import Path

import pygit2

from afterd.errors import RepositoryError, SpaceError, StoreError
from afterd.limits import ChangeLimits
from afterd.vcs.paths import path_text, refusal
from afterd.vcs.trees import Entry, TreeReader, TreeScale

INSTALLED = ".afterd-installed"
"""In a slot: the names of what its build got from elsewhere, whole, and the same for every version."""

_CACHE_TAG = "CACHEDIR.TAG"
_OWN_CACHES = ("tag created by cargo",)
"""Words of the tags of tools that keep a product by all that went into it, flags and compiler too: it is never taken
for another version's.
"""

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


def is_own_cache(folder: Path) -> bool:
    """Whether a build tool looks after the products in it by itself: nothing of it is to be dated or removed."""
    said = _text_of(folder / _CACHE_TAG)
    return any(own in said for own in _OWN_CACHES) and not folder.is_symlink()


def _text_of(path: Path) -> str:
    """What a small file says; empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


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
def explained_refusals(root: Path) -> Iterator[None]:
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


DEFAULT_LIMITS = ChangeLimits()
_CLEAN, _MOVING = "clean", "moving"
Files = dict[bytes, Entry]


class Slot:
    """A directory that holds one tree at a time, for one process at a time.

    ``repository`` must be able to read every tree it is moved to (the object store can). ``notes``
    says which files were not written and why.
    """

    def __init__(
        self, path: Path, repository: pygit2.Repository, limits: ChangeLimits = DEFAULT_LIMITS
    ) -> None:
        self.path = path.absolute()
        self.notes: tuple[str, ...] = ()
        self._limits = limits
        self._reader = TreeReader(repository)
        self._scale = TreeScale(self._reader)
        self._files = SlotFiles(self.path)
        self._marker = self.path.with_name(f"{self.path.name}.tree")
        self._held: tuple[str, Files] = ("", {})  # the listing of the tree it was moved to last

    @property
    def tree(self) -> str | None:
        """The tree it holds; None when it is new or a move was cut off."""
        state, trees = self._marked()
        return trees[0] if state == _CLEAN and trees else None

    @property
    def beside(self) -> Path:
        """Where what belongs to its build products may be kept; thrown away with them."""
        return self.path.with_name(f"{self.path.name}.beside")

    def tracked_paths(self) -> Collection[bytes]:
        """The files of the tree that it holds, relative; none where that is not known."""
        return self._listing(tree).keys() if (tree := self.tree) else ()

    def move_to(self, tree: str) -> tuple[str, ...]:
        """Make the tracked files those of ``tree``; the paths that were written or removed.

        Tracked files that a build or a test altered are put right as well. What is written gets a
        time later than everything built before. Raises SpaceError when there is no room or a limit
        is exceeded, RepositoryError for objects that are not there, StoreError when the directory
        cannot be written.
        """
        with explained_refusals(self.path):
            self._files.forget()
            self._prepare(tree)
            current = self.tree
            before = self._listing(current) if current else {}
            wanted = self._changed(before, current, tree) if current else self._listing(tree)
            stale = self._stale(before, wanted) if current else self._unknown(wanted)
            self._mark(_MOVING, *dict.fromkeys((*self._marked()[1], tree)))
            tick(self._marker)
            altered = [*self._remove(stale, wanted), *self._write(stale, wanted)]
            self._mark(_CLEAN, tree)
            tick(self._marker)
            self._held = (tree, wanted)
        return tuple(sorted(altered))

    def hard_reset(self) -> tuple[str, ...]:
        """Throw away everything, build products included, and check the tree out anew; what a build says that it
        only installed (``INSTALLED``) stays, and what a build tool tells apart by itself.
        """
        tree = self.tree
        with explained_refusals(self.path):
            aside = self._put_aside()
            self._wipe()
            if aside is not None:
                aside.rename(self.path)
        return self.move_to(tree) if tree else ()

    @contextmanager
    def lent_to(self, copy: Path) -> Iterator[None]:
        """A copy of its directory is in its place meanwhile, and moved there from tree to tree.

        The marker says from the first to the last that nothing is known of what the slot holds.
        """
        marked = self._marker.read_bytes()
        aside = copy.with_name(f"{copy.name}.aside")
        self._mark(_MOVING, *self._marked()[1])
        self.path.rename(aside)
        copy.rename(self.path)
        try:
            yield
        finally:
            self.path.rename(copy)
            aside.rename(self.path)
            self._marker.write_bytes(marked)

    def _prepare(self, tree: str) -> None:
        """Make sure of the room, of a directory, and of what the marker says of it."""
        if self.path.is_symlink() or not self._is_readable():
            self._wipe()
        if self.path.exists():
            self._scale.refuse_oversized(tree, self._limits)
        else:
            place = next(parent for parent in self.path.parents if parent.exists())
            self._scale.refuse_heavy(tree, self._limits, place)
        self.path.mkdir(parents=True, exist_ok=True)

    def _is_readable(self) -> bool:
        """Whether the trees that the marker names still exist (the object store may be removed)."""
        try:
            for tree in self._marked()[1]:
                self._reader.tree_of(tree)
        except RepositoryError:
            return False
        return True

    def _put_aside(self) -> Path | None:
        """Beside the slot, what was installed in it and is whole, and what a build tool tells apart by itself; None:
        there is nothing of it.
        """
        said = [*self._own_caches(), *_text_of(self.path / INSTALLED).split()]
        if not said:
            return None
        aside = self.path.with_name(f"{self.path.name}.installed")
        if aside.exists():
            remove_directory(aside)
        aside.mkdir()
        for name in (*said, INSTALLED):
            if "/" not in name and name != ".." and (self.path / name).exists():
                (self.path / name).rename(aside / name)
        return aside

    def _own_caches(self) -> Iterator[str]:
        for tag in self.path.glob(f"*/{_CACHE_TAG}"):
            if is_own_cache(tag.parent):
                yield tag.parent.name

    def _wipe(self) -> None:
        self._marker.unlink(missing_ok=True)
        if self.beside.exists():
            remove_directory(self.beside)
        if self.path.is_symlink():
            self.path.unlink()
        elif self.path.exists():
            remove_directory(self.path)

    def _listing(self, tree: str) -> Files:
        """Every file of a tree that may be written."""
        if self._held[0] == tree:
            return self._held[1]
        return dict(self._allowed(self._with_submodules(self._reader.files(tree))))

    def _with_submodules(
        self, files: Iterable[tuple[bytes, Entry]]
    ) -> Iterator[tuple[bytes, Entry]]:
        """Files, and those of each submodule whose commit is there, below it."""
        for path, entry in files:
            yield path, entry
            if entry.is_submodule and self._reader.knows(entry.id):
                inner = self._reader.files(self._reader.tree_of(entry.id), path + b"/")
                yield from self._with_submodules(inner)

    def _changed(self, before: Files, current: str, tree: str) -> Files:
        """The listing of ``tree``, made from that of the current one."""
        wanted = dict(before)
        found = list(self._reader.differences(current, tree))
        if any(entry is not None and entry.is_submodule for _, *both in found for entry in both):
            return self._listing(tree)
        for path, _, new in found:
            if new is None:
                wanted.pop(path, None)
        wanted.update(self._allowed((path, new) for path, _, new in found if new is not None))
        return wanted

    def _allowed(self, files: Iterator[tuple[bytes, Entry]]) -> Iterator[tuple[bytes, Entry]]:
        for path, entry in files:
            why = refusal(path)
            if not why:
                yield path, entry
            elif (note := f"{path_text(path)!r} is not written: {why}.") not in self.notes:
                self.notes += (note,)

    def _unknown(self, wanted: Files) -> set[bytes]:
        """With nothing known of the directory: every file of every tree it may hold parts of."""
        known = {path for tree in self._marked()[1] for path in self._listing(tree)}
        return known | wanted.keys()

    def _stale(self, before: Files, wanted: Files) -> set[bytes]:
        """Paths that differ between the trees, and tracked files that are not as they were left.

        The marker was stamped later than everything that the last move wrote (see ``tick``), so an
        inode changed at its time or later was changed by somebody else.
        """
        left = os.lstat(self._marker).st_ctime_ns
        differ = {path for path, entry in before.items() if wanted.get(path) != entry}
        stale = differ | (wanted.keys() - before.keys())
        for path, entry in before.items():
            if not _is_as_left(self._files.status(path), entry, left):
                stale.add(path)
        return stale

    def _remove(self, stale: set[bytes], wanted: Mapping[bytes, Entry]) -> Iterator[str]:
        for path in sorted(stale - wanted.keys()):
            status = self._files.status(path)
            if status is not None and not stat.S_ISDIR(status.st_mode):
                self._files.remove(path)
                yield path_text(path)
            self._files.remove_empty(path if status is not None else parent_of(path))

    def _write(self, stale: set[bytes], wanted: Mapping[bytes, Entry]) -> Iterator[str]:
        for path in sorted(stale & wanted.keys()):
            entry = wanted[path]
            if not entry.is_submodule and self._reader.is_absent(entry.id):
                continue
            content = b"" if entry.is_submodule else self._reader.read(entry.id, path)
            if not self._files.holds(path, entry, content):
                self._files.write(path, entry, content)
                yield path_text(path)

    def _marked(self) -> tuple[str, list[str]]:
        try:
            state, *trees = self._marker.read_text().split()
        except (FileNotFoundError, ValueError):
            return "new", []
        return state, trees

    def _mark(self, state: str, *trees: str) -> None:
        if self._marked() == (state, list(trees)):
            return  # a full device takes no second marker, and the first move must be undone there
        temporary = self._marker.with_name(f"{self._marker.name}.new")
        temporary.write_text(" ".join((state, *trees)) + "\n")
        temporary.replace(self._marker)


def _is_as_left(status: os.stat_result | None, entry: Entry, left: int) -> bool:
    if status is None or entry.is_submodule:
        return status is not None and stat.S_ISDIR(status.st_mode)
    return status.st_ctime_ns < left
