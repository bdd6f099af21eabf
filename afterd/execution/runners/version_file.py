"""The module that a Python project's build writes its version to, from the history: git ignores it.

setuptools-scm, hatch-vcs and their like make it where the project is installed; a checkout of a variant has
none, and without it the package cannot be imported.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from afterd.execution.runners.reading import text

_SAID_IN = ("pyproject.toml", "setup.py", "setup.cfg")
_DECLARED = re.compile(
    r"""\b(?:write_to|version_file|version-file)["']?\s*[=:]\s*["']?(?P<file>[\w./-]+\.py)\b"""
)
_TEXT = """\
__version__ = version = "999"
__version_tuple__ = version_tuple = (999,)
__commit_id__ = commit_id = None
"""
"""The names of setuptools-scm's own template, with the version that ``--prepare auto`` pretends."""


def version_files(root: Path, home: Path | None) -> dict[str, str]:
    """The files that the project at ``root`` has its version written to, each with its text: that in
    the user's work tree ``home``, where it was built.
    """
    found: dict[str, str] = {}
    for match in _DECLARED.finditer("\n".join(text(root / name) for name in _SAID_IN)):
        path = PurePosixPath(match["file"])
        if not path.is_absolute() and ".." not in path.parts:
            found[str(path)] = (text(home / path) if home else "") or _TEXT
    return found
