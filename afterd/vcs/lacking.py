"""What a partial or damaged clone lacks and a range does not need: contents of files that both its versions have alike.

They are written down beside afterd's own objects. Whoever reads such a file finds it empty, and no checkout has it.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import pygit2

from afterd.limits import REPORT
from afterd.model.wording import first_names
from afterd.vcs.paths import path_text
from afterd.vcs.trees import ABSENT, TreeReader


def note_lacking(store: pygit2.Repository, good: str, bad: str) -> str:
    """Write down what is lacking of the files that these versions have alike; a sentence on it, or empty.

    ``store`` is afterd's own repository. A file that differs is needed: who reads it says that it is not there.
    """
    reader = TreeReader(store)
    old, new = reader.tree_of(good), reader.tree_of(bad)
    lacking = {
        path: entry.id
        for path, entry in reader.files(new)
        if not entry.is_submodule and not reader.knows(entry.id)
    }
    if lacking:
        needed = {
            each.id
            for _, *both in reader.differences(old, new)
            for each in both
            if each is not None
        }
        lacking = {path: each for path, each in lacking.items() if each not in needed}
    _write(Path(store.path) / ABSENT, sorted(set(lacking.values())))
    if not lacking:
        return ""
    named = first_names([path_text(path) for path in sorted(lacking)], REPORT.named)
    one = len(lacking) == 1
    files = "a file" if one else f"{len(lacking)} files"
    return (
        f"The clone lacks the contents of {files} that this range does not touch; every version is built and tested"
        f" without {'it' if one else 'them'}: {named}."
    )


def lacking_key(store: pygit2.Repository) -> str:
    """What was written down, for cache keys: who fetches a file has other outcomes; empty where nothing is lacking."""
    try:
        return hashlib.sha256(Path(store.path, ABSENT).read_bytes()).hexdigest()[:16]
    except FileNotFoundError:
        return ""


def _write(path: Path, identifiers: list[str]) -> None:
    if not identifiers:
        path.unlink(missing_ok=True)
        return
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write("\n".join(identifiers))
    os.replace(file.name, path)  # noqa: PTH105 - atomic, also over one that is there
