"""Where variants are stored: a bare repository of afterd's own that reads the user's objects.

Writes go below the state directory and never into the user's object database; the user's objects
are seen through an alternates file (relative, so no path needs quoting).
"""

from __future__ import annotations

from pathlib import Path

import pygit2

from afterd.errors import StoreError
from afterd.vcs.repository import state_directory

STORE_NAME = "objects.git"
_ALTERNATE = "../../../objects\n"  # from <common>/afterd/objects.git/objects to <common>/objects


def open_store(repository: pygit2.Repository) -> pygit2.Repository:
    """The repository that variants are written to and read from; made when it is not there.

    Everything in the user's repository can be read through it. Raises StoreError when the state
    directory cannot be written.
    """
    path = state_directory(repository) / STORE_NAME
    try:
        if not (path / "HEAD").exists():
            pygit2.init_repository(path, bare=True)
        _see_user_objects(path)
        return pygit2.Repository(path)
    except (OSError, pygit2.GitError) as error:
        raise StoreError(
            f"The object store {path} cannot be opened ({error}). "
            "It holds nothing that cannot be made again: remove it and retry."
        ) from error


def _see_user_objects(path: Path) -> None:
    alternates = path / "objects" / "info" / "alternates"
    if not alternates.exists():
        alternates.parent.mkdir(parents=True, exist_ok=True)
        alternates.write_text(_ALTERNATE)
