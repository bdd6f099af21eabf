"""What stands in the slot of a traced build: what was checked in, what the build made, what a test left there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path, PurePath

from afterd.execution.freshness import Freshness
from afterd.vcs.worktree import Slot, remove_directory


def told_by(mark: Path, key: str) -> tuple[str, int]:
    """Which tree stands built in a slot, and how many blocks were numbered; none where it was built otherwise."""
    tree, _, told = mark.read_text().partition(" ") if mark.exists() else ("", "", "")
    built, _, numbered = told.rpartition(" ")
    return (tree, int(numbered)) if built == key else ("", 0)


def checked_out(slot: Slot) -> list[str]:
    """Make a slot what was checked in, the parsers that were newer than their grammars; what of it a
    build could also have made.
    """
    slot.hard_reset()
    freshness = Freshness(slot.path)
    freshness.settle(())
    return sorted(freshness.shipped or ())


def paths_below(directory: Path) -> list[str]:
    """All that is there, relative to it."""
    return [str(path.relative_to(directory)) for path in directory.rglob("*")]


def remove_what_tests_left(directory: Path, standing: Path, altered: Sequence[str]) -> bool:
    """Remove what neither a build made (``standing`` lists what was there behind it) nor a move to another
    tree brought; whether there was any of it. A makefile may take it for its own: ``-include *.d``.
    """
    known = {*json.loads(standing.read_text()), *altered}
    known |= {str(parent) for path in altered for parent in PurePath(path).parents}
    left = [path for path in paths_below(directory) if path not in known]
    for path in map(directory.joinpath, left):
        if path.is_dir() and not path.is_symlink():
            remove_directory(path)
        else:
            path.unlink(missing_ok=True)
    return bool(left)
