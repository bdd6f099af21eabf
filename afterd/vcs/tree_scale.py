"""How large a tree is, told before anything of it is walked or checked out."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from afterd.errors import SpaceError
from afterd.limits import MIB, ChangeLimits
from afterd.vcs.trees import Entry, TreeReader


class TreeScale:
    """Counts a tree's files and bytes, each sub-tree once.

    A "git bomb" of 10^10 files is so counted at once, where a walk would take an hour
    (reliability.md, section 13).
    """

    def __init__(self, reader: TreeReader) -> None:
        self._reader = reader
        self._files: dict[str, int] = {}
        self._bytes: dict[str, int] = {}
        self._blobs: dict[str, int] = {}

    def files(self, tree: str) -> int:
        """Files, links and submodules below ``tree``."""
        return self._sum(tree, self._files, lambda _: 1)

    def bytes(self, tree: str) -> int:
        """Bytes that a check-out of ``tree`` writes."""
        return self._sum(tree, self._bytes, self._size)

    def refuse_oversized(self, tree: str, limits: ChangeLimits) -> None:
        """Raise SpaceError when ``tree`` has more files than the limits allow."""
        try:
            files = self.files(tree)
        except RecursionError:
            raise SpaceError(
                f"The tree {tree[:12]} nests its directories too deep to be checked out."
            ) from None
        if files > limits.tree_files:
            raise SpaceError(
                f"The tree {tree[:12]} has {files:,} files, more than the {limits.tree_files:,} "
                "that afterd takes. Raise the limit tree_files if they are meant."
            )

    def refuse_heavy(self, tree: str, limits: ChangeLimits, place: Path) -> None:
        """Raise SpaceError when a check-out would exceed the limits or what is free at ``place``."""
        self.refuse_oversized(tree, limits)
        size, free = self.bytes(tree), shutil.disk_usage(place).free
        if size > min(limits.tree_size, free):
            bound = "the limit tree_size" if limits.tree_size < free else f"the space in {place}"
            raise SpaceError(
                f"A check-out of the tree {tree[:12]} takes {size / MIB:,.0f} MiB, over {bound} "
                f"({min(limits.tree_size, free) / MIB:,.0f} MiB). Make room, or raise the limit."
            )

    def _sum(self, tree: str, known: dict[str, int], weigh: Callable[[Entry], int]) -> int:
        if tree not in known:
            total = 0
            for entry in self._reader.directory(tree).values():
                total += self._sum(entry.id, known, weigh) if entry.is_tree else weigh(entry)
            known[tree] = total
        return known[tree]

    def _size(self, entry: Entry) -> int:
        if entry.is_submodule:
            return 0
        if entry.id not in self._blobs:
            self._blobs[entry.id] = self._reader.size(entry.id)
        return self._blobs[entry.id]
