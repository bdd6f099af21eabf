"""Real git trees and slots for the tests of this package."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pygit2
import pytest
from pygit2.enums import FileMode

from afterd.errors import ToolchainError
from afterd.execution import toolchain
from afterd.vcs.worktree import Slot


class Workshop:
    """A bare repository that trees are written to, and slots beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "objects.git"
        self.repository = pygit2.init_repository(str(self.path), bare=True)

    def tree(self, files: Mapping[str, str]) -> str:
        """The id of a tree with these files; what begins with ``#!`` can be executed."""
        index = pygit2.Index()
        for name, text in files.items():
            blob = self.repository.create_blob(text.encode())
            mode = FileMode.BLOB_EXECUTABLE if text.startswith("#!") else FileMode.BLOB
            index.add(pygit2.IndexEntry(name, blob, mode))
        return str(index.write_tree(self.repository))

    def slot(self, name: str = "1") -> Slot:
        """A slot with a repository handle of its own, as each thread needs."""
        return Slot(self.folder / "slots" / name, pygit2.Repository(str(self.path)))


def compiler() -> str:
    """A C compiler as one word of a shell script; skips the test where there is none."""
    if found := shutil.which("cc") or shutil.which("gcc"):
        return found
    try:
        return " ".join(toolchain.find(os.environ).argv)
    except ToolchainError:
        pytest.skip("no C compiler")


needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="no make")
