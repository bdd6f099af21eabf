"""A fork of the warm server that records itself: what outside the tree is imported already, is not recorded anyway.

The tree that is recorded may lie elsewhere than the one that the server was started in.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from .session import begin
from .settings import from_environment
from .start import move_path_entries


@dataclass(frozen=True)
class Recorded:
    """Where a fork is to run and record itself: the server's ``tree`` and the recorded one, ``moved`` to, the
    directory, and the variables in which the environment differs (None: it has none of that name).
    """

    tree: str
    moved: str
    directory: str
    environment: dict[str, str | None]


def begin_recording(recorded: Recorded) -> None:
    """Make this fork the recorded process that the environment describes."""
    for name, value in recorded.environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    os.chdir(recorded.directory)
    for position, entry in enumerate(sys.path):
        if entry == recorded.tree or entry.startswith(recorded.tree + "/"):
            sys.path[position] = recorded.moved + entry[len(recorded.tree) :]
    settings = from_environment()
    assert settings is not None, "whoever asks for a recording names its settings"
    move_path_entries(settings)
    begin(settings)
