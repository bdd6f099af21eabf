"""Where afterd keeps what it knows of a repository; without libgit2, which takes as long to load as a
list of explanations may take.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from afterd.errors import SpaceError, StoreError

STATE_NAME = "afterd"
_README = """\
This directory belongs to afterd, which explains why a regression test went red.

afterd.db     what it found: explanations, outcomes, run counts
objects.git   source trees it made by undoing changes (your own objects are only read)
slots/        work trees it builds and tests in
pytest.ini    keeps pytest, run below here, from reading your work tree's settings

Nothing here is part of your repository. With no afterd running, all of it may be removed;
what is lost is the history of explanations.
"""
_PYTEST_BARRIER = "[pytest]\n"
"""Ends pytest's search for its configuration, which goes on upward from a slot whose version has none."""


def plain_git_directory(path: Path) -> Path | None:
    """The ``.git`` of an ordinary work tree that ``path`` is in, all of it this user's.

    None for what is left to libgit2: a linked worktree, a submodule, a bare repository, somebody
    else's, or no repository.
    """
    here = path.resolve()
    for folder in (here, *here.parents):
        found = folder / ".git"
        if found.is_dir():
            ours = {folder.stat().st_uid, found.stat().st_uid} == {os.geteuid()}
            whole = (found / "HEAD").is_file() and (found / "objects").is_dir()
            return found if ours and whole and not (found / "commondir").exists() else None
        if found.exists() or (folder / "HEAD").is_file():
            return None
    return None


def made_state(common: Path) -> Path:
    """``afterd`` in the common ``.git`` directory, made with its README when it is not there; its
    owner's alone.

    What tests printed is kept there, which is nobody else's business. Raises SpaceError when the
    device is full, StoreError when it cannot be made otherwise.
    """
    path = common / STATE_NAME
    made = {path / "README": _README, path / "pytest.ini": _PYTEST_BARRIER}
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.stat()
        if found.st_uid == os.geteuid() and found.st_mode & 0o077:  # an older afterd made it
            path.chmod(0o700)
        for file, text in made.items():
            if not file.exists():
                file.write_text(text)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise (SpaceError if full else StoreError)(
            f"The state directory {path} cannot be written ({error.strerror}). "
            "Check its owner and the space on its device."
        ) from error
    return path
