"""The files that a project's version is read from where there is no history: git ignores them.

setuptools-scm, hatch-vcs and their like write a module where the project is installed, and without it the package
cannot be imported. Autoconf asks a script of the project (``git-version-gen``), which in a release's archive finds
the version in a file beside it. A checkout of a variant has neither a history nor those files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from afterd.execution.runners.reading import text

_SAID_IN = ("pyproject.toml", "setup.py", "setup.cfg")
_DECLARED = re.compile(
    r"""\b(?:write_to|version_file|version-file)["']?\s*[=:]\s*["']?(?P<file>[\w./-]+\.py)\b"""
)
_PBR = re.compile(r"\bpbr\b")
_ASKED = re.compile(r"\bm4_esyscmd(?:_s)?\s*\(\s*\[*(?P<command>[^\])]*)")
_READ = re.compile(r"""(?im)^\s*\w*version_?file\w*=["']?(?P<file>[\w.-][\w./-]*)""")
_VERSION_FILE = re.compile(r"[\w./-]*version", re.IGNORECASE)
_TEXT = """\
__version__ = version = "999"
__version_tuple__ = version_tuple = (999,)
__commit_id__ = commit_id = None
"""
"""The names of setuptools-scm's own template, with the version that ``--prepare auto`` pretends."""
_ARCHIVED = "999.0.0"  # of three numbers: what is made of it may be split into them


def version_files(root: Path, home: Path | None) -> dict[str, str]:
    """The files that the project at ``root`` has its version written to, each with its text: that in
    the user's work tree ``home``, where it was built.
    """
    found: dict[str, str] = {}
    for match in _DECLARED.finditer("\n".join(text(root / name) for name in _SAID_IN)):
        path = PurePosixPath(match["file"])
        if _is_below(path):
            found[str(path)] = (text(home / path) if home else "") or _TEXT
    return found


def version_variables(root: Path) -> dict[str, str]:
    """The variables by which pbr is told the version of a project that asks it while it runs: where there is neither a
    history nor an installed package it refuses to be imported.
    """
    asks = any(_PBR.search(text(root / name)) for name in _SAID_IN)
    return {"PBR_VERSION": _ARCHIVED} if asks else {}


def archive_version_files(root: Path) -> dict[str, str]:
    """The files in which the scripts that configure.ac asks for the version look for it before they ask git,
    each with a version: what such a script prints without a history, often nothing, Autoconf refuses.
    """
    return {
        name: _ARCHIVED
        for match in _ASKED.finditer(text(root / "configure.ac") or text(root / "configure.in"))
        for name in _looked_in(root, match["command"].split())
        if _is_below(PurePosixPath(name)) and not (root / name).exists()
    }


def _looked_in(root: Path, command: list[str]) -> Iterator[str]:
    """What the command's script assigns to a variable for the file, and what it is told as arguments."""
    for place, word in enumerate(command):
        if "git" in (script := text(root / word)):
            yield from (match["file"] for match in _READ.finditer(script))
            yield from filter(_VERSION_FILE.fullmatch, command[place + 1 :])
            return


def _is_below(path: PurePosixPath) -> bool:
    return not path.is_absolute() and ".." not in path.parts
