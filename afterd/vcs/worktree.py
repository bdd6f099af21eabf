"""Slots: directories moved from tree to tree by writing only the files that differ.

An incremental build stays incremental, and untracked build products stay where they are. A marker
beside the directory says which tree it holds; while a move is under way it says so, and whoever
finds it like that (the process was killed) compares every file with its content.

Blobs are written as they are: no line-end conversion, no smudge filter, no Git LFS. Submodules are
empty directories.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

import pygit2

from afterd.errors import RepositoryError
from afterd.limits import ChangeLimits
from afterd.vcs.paths import path_text, refusal
from afterd.vcs.slot_files import SlotFiles, explained, parent_of, remove_directory, tick
from afterd.vcs.tree_scale import TreeScale
from afterd.vcs.trees import Entry, TreeReader

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

    def move_to(self, tree: str) -> tuple[str, ...]:
        """Make the tracked files those of ``tree``; the paths that were written or removed.

        Tracked files that a build or a test altered are put right as well. What is written gets a
        time later than everything built before. Raises SpaceError when there is no room or a limit
        is exceeded, RepositoryError for objects that are not there, StoreError when the directory
        cannot be written.
        """
        with explained(self.path):
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
        """Throw away everything, build products included, and check the tree out anew."""
        tree = self.tree
        with explained(self.path):
            self._wipe()
        return self.move_to(tree) if tree else ()

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

    def _wipe(self) -> None:
        self._marker.unlink(missing_ok=True)
        if self.path.is_symlink():
            self.path.unlink()
        elif self.path.exists():
            remove_directory(self.path)

    def _listing(self, tree: str) -> Files:
        """Every file of a tree that may be written."""
        if self._held[0] == tree:
            return self._held[1]
        return dict(self._allowed(self._reader.files(tree)))

    def _changed(self, before: Files, current: str, tree: str) -> Files:
        """The listing of ``tree``, made from that of the current one."""
        wanted = dict(before)
        found = list(self._reader.differences(current, tree))
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
            content = b"" if entry.is_submodule else self._reader.read(entry.id)
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
