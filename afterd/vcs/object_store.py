"""Where variants are stored: a bare repository of afterd's own that reads the user's objects.

Writes go below the state directory and never into the user's object database; the user's objects
are seen through an alternates file (relative, so no path needs quoting), and so are those of the
submodules that stand in the user's work tree.

Trees as git packs: how a machine without the repository gets what it has to build.

A pack holds the objects of one tree that another tree, which the receiver has, does not.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pygit2

from afterd.errors import SpaceError, StoreError
from afterd.vcs.repository import common_directory, state_directory
from afterd.vcs.trees import TreeReader

STORE_NAME = "objects.git"
_ALTERNATE = b"../../../objects\n"  # from <common>/afterd/objects.git/objects to <common>/objects


def open_store(repository: pygit2.Repository) -> pygit2.Repository:
    """The repository that variants are written to and read from; made when it is not there.

    Everything in the user's repository can be read through it. Raises StoreError when the state
    directory cannot be written.
    """
    path = state_directory(repository) / STORE_NAME
    try:
        if not (path / "HEAD").exists():
            pygit2.init_repository(path, bare=True)
        _see_objects(path, common_directory(repository))
        return pygit2.Repository(path)
    except (OSError, pygit2.GitError) as error:
        if "No space left" in str(error):  # libgit2 gives no number
            raise SpaceError(
                f"No space is left on the device that holds {path}. Make room and run it again; "
                "nothing is lost."
            ) from error
        raise StoreError(
            f"The object store {path} cannot be opened ({error}). "
            "It holds nothing that cannot be made again: remove it and retry."
        ) from error


def _see_objects(path: Path, common: Path) -> None:
    """Name the user's objects, and those of the submodules that were checked out, as alternates."""
    alternates = path / "objects" / "info" / "alternates"
    folders = (os.fsencode(folder.relative_to(common)) for folder in _submodules(common))
    lines = (b"../../../%s/objects\n" % folder for folder in folders if b"\n" not in folder)
    wanted = b"".join([_ALTERNATE, *lines])
    if not alternates.exists() or alternates.read_bytes() != wanted:
        alternates.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=alternates.parent, delete=False) as file:
            file.write(wanted)
        os.replace(file.name, alternates)  # noqa: PTH105 - atomic, also over one that is there


def _submodules(folder: Path) -> Iterator[Path]:
    """The git directories of submodules below one, and of theirs; a name may have slashes."""
    modules = folder / "modules" if (folder / "objects").is_dir() else folder
    for inner in sorted(modules.iterdir()) if modules.is_dir() else ():
        if inner.is_dir() and not inner.is_symlink():
            if (inner / "objects").is_dir():
                yield inner
            yield from _submodules(inner)


@dataclass(frozen=True, slots=True)
class Pack:
    """A packfile and its index, as git writes them; both empty where there is nothing to send."""

    data: bytes = b""
    index: bytes = b""


def tree_pack(repository: pygit2.Repository, tree: str, known: str = "") -> Pack:
    """What ``tree`` has and ``known`` has not (empty: the receiver has nothing).

    Raises RepositoryError for a tree that is not there. Submodules are not followed.
    """
    reader = TreeReader(repository)
    builder = pygit2.PackBuilder(repository)
    new, old = (repository[reader.tree_of(each)] if each else None for each in (tree, known))
    assert isinstance(new, pygit2.Tree)
    assert old is None or isinstance(old, pygit2.Tree)
    for identifier in _new_objects(new, old):
        if not reader.is_absent(str(identifier)):
            builder.add(identifier)
    if not len(builder):
        return Pack()
    with tempfile.TemporaryDirectory(prefix="afterd-pack-") as folder:
        builder.write(folder)
        [pack] = Path(folder).glob("*.pack")
        return Pack(pack.read_bytes(), pack.with_suffix(".idx").read_bytes())


def keep(repository: Path, pack: Pack) -> None:
    """Put a pack where a bare repository finds it; the same one twice does no harm.

    The index comes last: a pack without one is not looked at.
    """
    if not pack.data:
        return
    folder = repository / "objects" / "pack"
    name = f"pack-{hashlib.sha1(pack.data, usedforsecurity=False).hexdigest()}"
    for ending, content in ((".pack", pack.data), (".idx", pack.index)):
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(content)
        os.replace(file.name, folder / f"{name}{ending}")  # noqa: PTH105 - atomic, also over one that is there


def _new_objects(tree: pygit2.Tree, known: pygit2.Tree | None) -> Iterator[pygit2.Oid]:
    """The ids of trees and blobs that only ``tree`` has, directory by directory."""
    pending = [] if known is not None and known.id == tree.id else [(tree, known)]
    while pending:
        new, old = pending.pop()
        yield new.id
        theirs = {entry.name: entry for entry in old} if old is not None else {}
        for entry in new:
            other = theirs.get(entry.name)
            if other is not None and other.id == entry.id:
                continue
            if isinstance(entry, pygit2.Tree):
                pending.append((entry, other if isinstance(other, pygit2.Tree) else None))
            elif isinstance(entry, pygit2.Blob):
                yield entry.id
