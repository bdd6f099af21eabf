"""Git trees as values: read and compared without an index or a work tree.

pygit2's TreeBuilder takes names as UTF-8 only and its entries normalise modes, so a tree with a
Latin-1 file name could not be rebuilt exactly; the format itself is three fields an entry.

A new tree out of an old one: entries put and removed in memory, written once.

How large a tree is, told before anything of it is walked or checked out.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pygit2
from pygit2.enums import FileMode, ObjectType

from afterd.errors import RepositoryError, SpaceError
from afterd.limits import GIT, MIB, ChangeLimits
from afterd.vcs.paths import path_bytes, path_text

ABSENT = "absent"
"""In the repository that variants are kept in, the ids of what a clone lacks and nobody needs (``vcs.lacking``)."""
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_ID_BYTES = 20

ReadFile = Callable[[str], bytes | None]
"""A file of one version by its path; None where that version has none."""


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
        """A commit of another repository."""
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

    def read(self, identifier: str, path: bytes = b"") -> bytes:
        """The content of an object, of the file at ``path``; nothing where it is not there and nobody needs it.

        Raises RepositoryError when it is not there: a partial or damaged clone.
        """
        try:
            return self._odb.read(identifier)[1]
        except (KeyError, pygit2.GitError) as error:
            if self.is_absent(identifier):
                return b""
            raise missing_object(identifier, path) from error

    def is_absent(self, identifier: str) -> bool:
        """Whether an object is not there, and nobody needs it."""
        if self.knows(identifier):
            return False
        try:
            return identifier in Path(self.repository.path, ABSENT).read_text().split()
        except FileNotFoundError:
            return False

    def knows(self, identifier: str) -> bool:
        """Whether an object is there."""
        return identifier in self._odb

    def size(self, identifier: str, path: bytes = b"") -> int:
        """The bytes of an object, of the file at ``path``, without reading it."""
        try:
            return self._odb.read_header(identifier)[1]
        except (KeyError, pygit2.GitError) as error:
            if self.is_absent(identifier):
                return 0
            raise missing_object(identifier, path) from error

    def directory(self, tree: str) -> Directory:
        """The entries of a tree object."""
        found = self._directories.get(tree)
        if found is None:
            found = dict(_parsed_entries(b"" if tree == EMPTY_TREE else self.read(tree)))
            if self._remembered > GIT.remembered:
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

    def contents(self, tree: str) -> ReadFile:
        """The files of a tree, each read when it is asked for."""

        def content(path: str) -> bytes | None:
            entry = self.lookup(tree, path_bytes(path))
            return self.read(entry.id) if entry is not None and entry.is_file else None

        return content

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


def missing_object(identifier: str, path: bytes = b"") -> RepositoryError:
    """The error for an object that a shallow, partial or damaged clone does not have; that of the file at ``path``."""
    of = f" (a content of {path_text(path)})" if path else ""
    return RepositoryError(
        f"The repository lacks the object {identifier}{of}: the clone is shallow, partial or damaged. "
        "Fetch it (git fetch --unshallow, or git fetch --refetch --no-filter) and try again."
    )


def _parsed_entries(content: bytes) -> Iterator[tuple[bytes, Entry]]:
    position = 0
    while position < len(content):
        space = content.index(b" ", position)
        end = content.index(b"\0", space)
        identifier = content[end + 1 : end + 1 + _ID_BYTES]
        yield content[space + 1 : end], Entry(int(content[position:space], 8), identifier.hex())
        position = end + 1 + _ID_BYTES


class TreeEditor:
    """A tree under change: entries put and removed in memory, written once at the end."""

    def __init__(self, reader: TreeReader, tree: str) -> None:
        self._reader = reader
        self._tree = tree
        self._nodes: dict[bytes, Entry | TreeEditor] | None = None

    @property
    def _entries(self) -> dict[bytes, Entry | TreeEditor]:
        if self._nodes is None:
            self._nodes = dict(self._reader.directory(self._tree))
        return self._nodes

    def remove(self, path: bytes) -> None:
        """Take away the file at ``path``; nothing happens where there is none."""
        name, _, rest = path.partition(b"/")
        if rest:
            child = self._child(name)
            if child is not None:
                child.remove(rest)
        elif _is_leaf(self._entries.get(name)):
            del self._entries[name]

    def put(self, path: bytes, entry: Entry) -> None:
        """Place a file at ``path``; what stood in its way (a directory of that name, a file where a
        directory is needed) goes.
        """
        name, _, rest = path.partition(b"/")
        if not rest:
            self._entries[name] = entry
            return
        child = self._child(name) or TreeEditor(self._reader, EMPTY_TREE)
        self._entries[name] = child
        child.put(rest, entry)

    def write(self) -> str:
        """Store the tree (empty directories vanish, as git knows none) and return its id."""
        if self._nodes is None:
            return self._tree
        entries = {}
        for name, node in self._nodes.items():
            if isinstance(node, TreeEditor):
                identifier = node.write()
                if identifier != EMPTY_TREE:
                    entries[name] = Entry(FileMode.TREE, identifier)
            else:
                entries[name] = node
        return write_tree(self._reader.repository, entries)

    def _child(self, name: bytes) -> TreeEditor | None:
        node = self._entries.get(name)
        if isinstance(node, Entry) and node.is_tree:
            node = self._entries[name] = TreeEditor(self._reader, node.id)
        return node if isinstance(node, TreeEditor) else None


def write_tree(repository: pygit2.Repository, entries: Directory) -> str:
    """Store one tree object and return its id."""
    content = b"".join(
        b"%o %s\0%s" % (entries[name].mode, name, bytes.fromhex(entries[name].id))
        for name in sorted(entries, key=lambda name: _order(name, entries[name]))
    )
    return store_object(repository, ObjectType.TREE, content)


def _is_leaf(node: Entry | TreeEditor | None) -> bool:
    return isinstance(node, Entry) and not node.is_tree


def _order(name: bytes, entry: Entry) -> bytes:
    """Git sorts a directory as if its name ended in a slash."""
    return name + b"/" if entry.is_tree else name


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
            known = self._reader.knows(entry.id)  # who writes the file says that it is not there
            self._blobs[entry.id] = self._reader.size(entry.id) if known else 0
        return self._blobs[entry.id]
