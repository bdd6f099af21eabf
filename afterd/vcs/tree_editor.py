"""A new tree out of an old one: entries put and removed in memory, written once."""

from __future__ import annotations

import pygit2
from pygit2.enums import FileMode, ObjectType

from afterd.vcs.trees import EMPTY_TREE, Directory, Entry, TreeReader, store_object


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
