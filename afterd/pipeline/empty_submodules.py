"""A submodule that the clone never checked out: it is an empty folder in every version, so what is in it is missing."""

from __future__ import annotations

import re

from afterd.errors import AfterdError, BuildError
from afterd.limits import REPORT
from afterd.model.wording import first_names
from afterd.vcs.paths import path_text
from afterd.vcs.trees import TreeReader
from afterd.workspace import Workspace

_COMMAND = "`git submodule update --init --recursive`"


def empty_submodules(workspace: Workspace, tree: str) -> list[str]:
    """The paths of the submodules of a tree whose commits are nowhere in the clone."""
    reader = TreeReader(workspace.objects)
    submodules = ((path, entry) for path, entry in reader.files(tree) if entry.is_submodule)
    return sorted(path_text(path) for path, entry in submodules if not reader.knows(entry.id))


def unbuildable_for_want(workspace: Workspace, good: str, bad: str, said: str) -> str:
    """The submodules for want of which the bad version may not build, as a sentence: those that its build names, else
    those that the good version does not have yet. Empty where there is none.
    """
    if named := named_submodule(workspace, bad, said):
        return named
    return _sentence(
        sorted({*empty_submodules(workspace, bad)} - {*empty_submodules(workspace, good)})
    )


def named_submodule(workspace: Workspace, tree: str, *said: str) -> str:
    """Of these those that each of several failures names, as a sentence; empty where there is none."""
    return _sentence(
        [
            path
            for path in empty_submodules(workspace, tree)
            if all(re.search(rf"(?<![\w-]){re.escape(path)}(?![\w-])", each) for each in said)
        ]
    )


def note_submodules(workspace: Workspace, tree: str, error: AfterdError) -> None:
    """Have an error say which submodules are empty: those that it names, and all where nothing could be built."""
    if _COMMAND in str(error):
        return
    found = named_submodule(workspace, tree, str(error))
    if not found and isinstance(error, BuildError):
        found = _sentence(empty_submodules(workspace, tree))
    if found:
        error.args = (f"{error}\n{found}", *error.args[1:])


def _sentence(paths: list[str]) -> str:
    if not paths:
        return ""
    named, one = first_names(paths, REPORT.named), len(paths) == 1
    return (
        f"{named} {'is a submodule' if one else 'are submodules'} whose files this clone does not have, so"
        f" {'it is' if one else 'they are'} empty in every version: {_COMMAND} gets"
        f" {'it' if one else 'them'}."
    )
