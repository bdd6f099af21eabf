"""Which file of the good version became which file of the bad one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pygit2
from pygit2.enums import DeltaStatus, DiffFind, DiffOption, FileMode

from afterd.vcs.trees import Entry, TreeReader

RENAMES_LOOKED_AT = 1000  # git's own diff.renameLimit: similarity costs added x deleted files


@dataclass(frozen=True, slots=True)
class FilePair:
    """A changed file: path and entry in both versions; an entry is None where there is no file."""

    old_path: bytes
    new_path: bytes
    old: Entry | None
    new: Entry | None


def file_pairs(reader: TreeReader, good: str, bad: str) -> list[FilePair]:
    """The files that differ between two trees, by the path in ``bad``, renames paired.

    The differences come from the trees themselves (raw modes, any bytes in names); libgit2 is only
    asked which deleted file became which added one, without the user's ``diff.renames``.
    """
    found = {path: (old, new) for path, old, new in reader.differences(good, bad)}
    deleted = {path for path, (_, new) in found.items() if new is None}
    added = {path for path, (old, _) in found.items() if old is None}
    moved = renames(reader.repository, good, bad) if deleted and added else {}
    pairs = []
    for new_path, old_path in moved.items():
        if new_path in added and old_path in deleted:
            old, new = found.pop(old_path)[0], found.pop(new_path)[1]
            pairs.append(FilePair(old_path, new_path, old, new))
    pairs += [FilePair(path, path, old, new) for path, (old, new) in found.items()]
    return sorted(pairs, key=lambda pair: pair.new_path)


def renames(repository: pygit2.Repository, good: str, bad: str) -> Mapping[bytes, bytes]:
    """Which file of ``bad`` was which in ``good``: new path to old path.

    Submodules are left out: they are never looked into.
    """
    try:
        old, new = repository[good].peel(pygit2.Tree), repository[bad].peel(pygit2.Tree)
        diff = old.diff_to_tree(new, flags=DiffOption.SKIP_BINARY_CHECK)
        diff.find_similar(flags=DiffFind.FIND_RENAMES, rename_limit=RENAMES_LOOKED_AT)
    except (pygit2.GitError, KeyError):
        return {}  # a rename is then a deletion and an addition: as true, only less readable
    return dict(_renamed(diff))


def _renamed(diff: pygit2.Diff) -> Iterator[tuple[bytes, bytes]]:
    for delta in diff.deltas:
        new, old = delta.new_file, delta.old_file
        if delta.status == DeltaStatus.RENAMED and new.mode != FileMode.COMMIT:
            yield new.raw_path, old.raw_path
