"""The database of a repository, as the verbs use it."""

from __future__ import annotations

import importlib
from pathlib import Path

from afterd.store.database import DATABASE_NAME, Reader, Store, open_reader, open_store
from afterd.vcs.state import made_state, plain_git_directory


def reader(repository: Path) -> Reader:
    """The database of a repository, for reading; raises StoreError when there is none yet."""
    return open_reader(_state(repository) / DATABASE_NAME)


def store(repository: Path) -> Store:
    """The database of a repository, for writing."""
    return open_store(_state(repository) / DATABASE_NAME)


def _state(repository: Path) -> Path:
    if (plain := plain_git_directory(repository)) is not None:
        return made_state(plain)
    git = importlib.import_module("afterd.vcs.repository")  # `list` must not wait for libgit2
    state: Path = git.state_directory(git.open_repository(repository))
    return state
