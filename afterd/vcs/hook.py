"""The post-commit hook: put beside what was there before, and taken away without a trace.

An existing hook is kept as ``post-commit.before-afterd`` and run after ours, with its own output
and status. ``core.hooksPath`` is respected. A hooks directory inside the work tree is refused,
because its files belong to the project: afterd never writes to a work tree.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pygit2

from afterd.errors import StoreError, UsageError
from afterd.vcs.repository import common_directory, state_directory

NAME = "post-commit"
EARLIER = "post-commit.before-afterd"
INBOX = "inbox"
_MARK = b"# afterd's post-commit hook"


@dataclass(frozen=True, slots=True)
class Installed:
    """Where the hook is; ``chained``: a hook that was there before runs after it; ``shared``: git
    runs the hooks of that directory for other repositories too.
    """

    path: Path
    chained: bool
    shared: bool


def inbox(repository: pygit2.Repository) -> Path:
    """The directory that the hook drops commits into; made when it is not there."""
    path = state_directory(repository) / INBOX
    path.mkdir(exist_ok=True)
    return path


def install(repository: pygit2.Repository) -> Installed:
    """Put the hook in place; nothing changes where it is already.

    Raises UsageError where it cannot be put, and StoreError where it cannot be written.
    """
    folder, shared = _hooks(repository)
    hook, earlier = folder / NAME, folder / EARLIER
    inbox(repository)
    if is_ours(hook):
        return Installed(hook, _is_there(earlier), shared)
    if _is_there(hook) and _is_there(earlier):
        raise UsageError(
            f"{hook} was put in place after afterd's, which keeps an older one as {earlier}. "
            "Move one of the two away and install again."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if _is_there(hook):
            shutil.copy2(hook, earlier, follow_symlinks=False)
        _write(hook, script())
    except OSError as error:
        raise StoreError(f"The hook {hook} cannot be written ({error.strerror}).") from error
    return Installed(hook, _is_there(earlier), shared)


def uninstall(repository: pygit2.Repository) -> Path:
    """Take the hook away and put back what was there before it; its path.

    Raises UsageError where afterd's hook is not in place, or lies behind another one.
    """
    folder, _ = _hooks(repository)
    hook, earlier = folder / NAME, folder / EARLIER
    if not is_ours(hook):
        raise UsageError(
            f"{hook} is not afterd's hook, and stays as it is. If another tool took afterd's hook "
            "over, let that tool give it back first."
        )
    try:
        if _is_there(earlier):
            earlier.replace(hook)
        else:
            hook.unlink()
    except OSError as error:
        raise StoreError(f"The hook {hook} cannot be removed ({error.strerror}).") from error
    return hook


def is_ours(hook: Path) -> bool:
    """Whether a file is afterd's hook, of this version or another."""
    try:
        return not hook.is_symlink() and _MARK in hook.read_bytes()[:400]
    except OSError:
        return False


def script() -> bytes:
    """The hook's text, from the installed package or from a source checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_hooks", package.parent / "hooks"):
        if (folder / NAME).is_file():
            return (folder / NAME).read_bytes()
    raise UsageError(f"The hook is not part of this installation ({package}). Install it again.")


def _hooks(repository: pygit2.Repository) -> tuple[Path, bool]:
    """The directory that git runs hooks from, and whether it is not this repository's own."""
    common = common_directory(repository)
    if repository.is_bare:
        raise UsageError(
            f"{common} is bare: no commit is made in it. The daemon sees what is pushed to it."
        )
    assert repository.workdir is not None
    tree = Path(repository.workdir).resolve()
    key = "core.hooksPath"
    configured = repository.config[key] if key in repository.config else ""  # noqa: SIM401 - it has no get()
    folder = (tree / Path(configured).expanduser()).resolve() if configured else common / "hooks"
    inside = folder.is_relative_to(tree) and not folder.is_relative_to(common)
    if inside:
        raise UsageError(
            f"core.hooksPath is {configured}, inside the work tree, where afterd writes nothing. "
            f"Add a line to {folder / NAME} yourself: the path of afterd's hooks/post-commit, or "
            "its text."
        )
    return folder, not folder.is_relative_to(common)


def _is_there(path: Path) -> bool:
    return os.path.lexists(path)


def _write(hook: Path, text: bytes) -> None:
    """There whole or not at all: git may run it at this moment."""
    with tempfile.NamedTemporaryFile(dir=hook.parent, delete=False) as file:
        file.write(text)
    Path(file.name).chmod(0o755)
    Path(file.name).replace(hook)
