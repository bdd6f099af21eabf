"""Git trees as values: read and compared without an index or a work tree.

pygit2's TreeBuilder takes names as UTF-8 only and its entries normalise modes, so a tree with a
Latin-1 file name could not be rebuilt exactly; the format itself is three fields an entry.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import pygit2
from pygit2.enums import FileMode, ObjectType

from afterd.errors import RepositoryError

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_ID_BYTES = 20
_MOST_REMEMBERED = 500_000  # entries, about 100 MB; a large flat directory has one tree a variant


@dataclass(frozen=True, slots=True)
class Entry:
    """What a name in a tree stands for: a git file mode and a hexadecimal object id."""

    mode: int
    id: str

    @property
    def is_tree(self) -> bool:
        """A directory."""
        return self.mode == FileMode.TREE

    @property
    def is_submodule(self) -> bool:
        """A commit of another repository, never looked into."""
        return self.mode == FileMode.COMMIT

    @property
    def is_link(self) -> bool:
        """A symbolic link; the blob is its target."""
        return self.mode == FileMode.LINK

    @property
    def is_file(self) -> bool:
        """A regular file, executable or not."""
        return not (self.is_tree or self.is_submodule or self.is_link)

    @property
    def is_executable(self) -> bool:
        """A regular file with its executable bit set."""
        return self.is_file and bool(self.mode & 0o100)


Directory = Mapping[bytes, Entry]


class TreeReader:
    """Reads trees and blobs of one repository; tree objects once, as far as memory allows."""

    def __init__(self, repository: pygit2.Repository) -> None:
        self.repository = repository
        self._directories: dict[str, Directory] = {}
        self._remembered = 0

    @cached_property
    def _odb(self) -> pygit2.Odb:
        return self.repository.odb

    def read(self, identifier: str) -> bytes:
        """The content of an object.

        Raises RepositoryError when it is not there: a partial or damaged clone.
        """
        try:
            return self._odb.read(identifier)[1]
        except (KeyError, pygit2.GitError) as error:
            raise missing_object(identifier) from error

    def size(self, identifier: str) -> int:
        """The bytes of an object, without reading it."""
        try:
            return self._odb.read_header(identifier)[1]
        except (KeyError, pygit2.GitError) as error:
            raise missing_object(identifier) from error

    def directory(self, tree: str) -> Directory:
        """The entries of a tree object."""
        found = self._directories.get(tree)
        if found is None:
            found = dict(_parsed(b"" if tree == EMPTY_TREE else self.read(tree)))
            if self._remembered > _MOST_REMEMBERED:
                self._directories.clear()
                self._remembered = 0
            self._directories[tree] = found
            self._remembered += len(found)
        return found

    def tree_of(self, revision: str) -> str:
        """The tree of a commit, or of itself when a tree is named."""
        try:
            found = self.repository[revision].peel(pygit2.Tree)
        except (KeyError, ValueError, pygit2.GitError) as error:
            raise missing_object(revision) from error
        return str(found.id)

    def lookup(self, tree: str, path: bytes) -> Entry | None:
        """The file, link or submodule at ``path``; None when there is none (or a directory)."""
        *parents, name = path.split(b"/")
        for parent in parents:
            entry = self.directory(tree).get(parent)
            if entry is None or not entry.is_tree:
                return None
            tree = entry.id
        entry = self.directory(tree).get(name)
        return None if entry is None or entry.is_tree else entry

    def files(self, tree: str, prefix: bytes = b"") -> Iterator[tuple[bytes, Entry]]:
        """Every file, link and submodule below ``tree`` with its path."""
        for name, entry in self.directory(tree).items():
            if entry.is_tree:
                yield from self.files(entry.id, prefix + name + b"/")
            else:
                yield prefix + name, entry

    def differences(
        self, old: str, new: str, prefix: bytes = b""
    ) -> Iterator[tuple[bytes, Entry | None, Entry | None]]:
        """Paths whose entries differ, with both entries; equal sub-trees are never opened."""
        if old == new:
            return
        before, after = self.directory(old), self.directory(new)
        for name in dict.fromkeys((*before, *after)):
            one, other = before.get(name), after.get(name)
            if one == other:
                continue
            path = prefix + name
            trees = [entry.id if entry and entry.is_tree else EMPTY_TREE for entry in (one, other)]
            leaves = [None if entry and entry.is_tree else entry for entry in (one, other)]
            yield from self.differences(trees[0], trees[1], path + b"/")
            if leaves[0] != leaves[1]:
                yield path, leaves[0], leaves[1]


def store_object(repository: pygit2.Repository, kind: ObjectType, content: bytes) -> str:
    """Store a blob or a tree where it is not yet known; its id.

    libgit2's own write would freshen the file of a known object, and so touch the user's database.
    """
    header = f"{kind.name.lower()} {len(content)}\0".encode()
    identifier = hashlib.sha1(header + content, usedforsecurity=False).hexdigest()
    if identifier not in repository.odb:
        repository.odb.write(kind, content)
    return identifier


def missing_object(identifier: str) -> RepositoryError:
    """The error for an object that a shallow, partial or damaged clone does not have."""
    return RepositoryError(
        f"The repository lacks the object {identifier}: the clone is shallow, partial or damaged. "
        "Fetch it (git fetch --unshallow, git fetch --refetch) and try again."
    )


def _parsed(content: bytes) -> Iterator[tuple[bytes, Entry]]:
    position = 0
    while position < len(content):
        space = content.index(b" ", position)
        end = content.index(b"\0", space)
        identifier = content[end + 1 : end + 1 + _ID_BYTES]
        yield content[space + 1 : end], Entry(int(content[position:space], 8), identifier.hex())
        position = end + 1 + _ID_BYTES
