"""Interpreter start-up: decide what this process is, and set it up.

A script cannot be instrumented by an import hook, because nobody imports it: the process replaces
itself by ``python -m afterd_runtime.script SCRIPT …``, which runs it as ``__main__`` from
instrumented code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .command_line import original_arguments
from .importing import NEVER
from .session import begin
from .settings import Settings, from_environment

SCRIPT_MODULE = "afterd_runtime.script"
_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")


def start() -> None:
    """Called by ``sitecustomize``."""
    settings = from_environment()
    if settings is None:
        return
    move_path_entries(settings)
    if _is_own_script(settings):
        _run_through_script_module()
    begin(settings)


def move_path_entries(settings: Settings) -> None:
    """An editable install names the user's checkout; the run is of another tree.

    What is installed in an environment inside the checkout stays where it is.
    """
    if not settings.original or settings.original == settings.tree:
        return
    for position, entry in enumerate(sys.path):
        if entry == settings.tree or entry.startswith(settings.tree + "/"):
            continue  # afterd's own trees lie below the user's checkout, in its .git
        if NEVER.intersection(entry[len(settings.original) :].split("/")):
            continue
        if entry == settings.original or entry.startswith(settings.original + "/"):
            sys.path[position] = settings.tree + entry[len(settings.original) :]


def _is_own_script(settings: Settings) -> bool:
    started = original_arguments()
    position = script_position(started)
    if position is None:
        return False
    script = Path(started[position]).resolve()
    return script.suffix == ".py" and (
        Path(settings.tree).resolve() in script.parents or str(script.parent) in settings.beside
    )


def script_position(argv: Sequence[str]) -> int | None:
    """Where the script stands on a command line; None with -c, -m or standard input."""
    position = 1
    while position < len(argv):
        argument = argv[position]
        if not argument.startswith("-"):
            return position
        if argument in {"-c", "-m", "-"} or (argument[1:2] != "-" and argument[-1] in "cm"):
            return None
        position += 2 if argument in _WITH_VALUE else 1
    return None


def _run_through_script_module() -> None:
    started = original_arguments()
    position = script_position(started)
    assert position is not None
    options = started[1:position]
    here = str(Path(__file__).parent.parent)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [
            here,
            *(
                entry
                for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep)
                if entry != here
            ),
        ]
    )
    argv = [sys.executable, *options, "-m", SCRIPT_MODULE, *started[position:]]
    os.execv(sys.executable, argv)  # noqa: S606 # this very interpreter, once more
