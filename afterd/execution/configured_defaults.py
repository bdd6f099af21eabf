"""What a build folder remembers of the version that it was configured for.

CMake and Meson keep the value of every option, also of those that nobody gave: the default that a version
declares is the one of the version that was configured first, in that folder for ever. An older version built there is
not as its own checkout would be: compiled by another standard of the language, or without a part that was on by
default. So where two versions declare other defaults, the old ones are forgotten; what the build command gives is kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from afterd.execution.freshness import files_below
from afterd.vcs.worktree import remove_directory

_ARGUMENTS = r'((?:"(?:[^"\\]|\\.)*"|[^")])*)\)'
_CMAKE_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_CMAKE_DECLARATION = re.compile(
    rf"\b(option|cmake_dependent_option|set)\s*\(\s*(\w+)\b{_ARGUMENTS}", re.IGNORECASE
)
_CACHED = re.compile(r"\bCACHE\b")
_MESON_DEFAULTS = re.compile(r"\bdefault_options\s*:\s*(\[[^\]]*\]|\{[^}]*\}|'[^']*')")
_MESON_COMPILES = re.compile(r"\bmeson(?:\.py)?\s+compile\b")
_MESON_SETS_UP = re.compile(r"\bmeson(?:\.py)?\s+setup\b")
_MESON_OPTIONS = frozenset({"meson_options.txt", "meson.options"})


@dataclass(frozen=True, slots=True)
class Defaults:
    """The defaults that a version declares: CMake's options, each with its declarations, and the text of Meson's."""

    cmake: Mapping[str, tuple[str, ...]]
    meson: str


def declared_defaults(root: Path, paths: Iterable[bytes]) -> Defaults:
    """The defaults that the project at ``root`` declares, whose files are at these ``paths`` below it."""
    cmake: dict[str, tuple[str, ...]] = {}
    meson: list[str] = []
    for name in sorted(map(os.fsdecode, paths)):
        if _is_cmake(name):
            for option, declaration in _cmake_declarations(_text(root / name)):
                cmake[option] = (*cmake.get(option, ()), declaration)
        elif name == "meson.build":
            meson += _MESON_DEFAULTS.findall(_text(root / name))
        elif name in _MESON_OPTIONS:
            meson.append(_text(root / name))
    return Defaults(cmake, "\n".join(meson))


def forget_defaults(root: Path, old: Defaults, new: Defaults, command: Collection[str]) -> None:
    """Have what was built below ``root`` configured with the ``new`` defaults where they are not the ``old`` ones.

    What ``command``, the words of the build, gives (``-DNAME=…``) is no default.
    """
    changed = {name for name in old.cmake if old.cmake[name] != new.cmake.get(name)}
    forgotten = {name for name in changed if not _is_given(name, command)}
    if not forgotten and old.meson == new.meson:
        return
    for path in list(files_below(root)):
        if forgotten and path.name == "CMakeCache.txt":
            _forget_in_cache(path, forgotten)
        elif old.meson != new.meson and path.parts[-2:] == ("meson-private", "coredata.dat"):
            _forget_in_meson(path, " ".join(command))


def _forget_in_meson(coredata: Path, command: str) -> None:
    """Ninja, and ``meson setup --reconfigure``, configure anew by the options that were given (cmd_line.txt) where they
    cannot read this file; ``meson compile`` refuses it, so that for it the folder is made anew. So it is where the
    command sets it up: an option that another version was given may not be declared any more (json-glib's ``gtk_doc``).
    """
    folder = coredata.parent.parent
    own = _MESON_COMPILES.search(command) or _MESON_SETS_UP.search(command)
    if own and "--reconfigure" not in command and not (folder / "meson.build").exists():
        remove_directory(folder)
    else:
        coredata.write_bytes(b"")


def _is_cmake(name: str) -> bool:
    path = PurePath(name)
    return path.name == "CMakeLists.txt" or path.suffix == ".cmake"


def _cmake_declarations(text: str) -> Iterable[tuple[str, str]]:
    for match in _CMAKE_DECLARATION.finditer(_CMAKE_COMMENT.sub("", text)):
        if match[1].lower() != "set" or _CACHED.search(match[3]):
            yield match[2], " ".join(match[3].split())


def _is_given(name: str, command: Collection[str]) -> bool:
    return any(re.search(rf"-D\s*{name}\b", word) for word in command)


def _forget_in_cache(cache: Path, names: Collection[str]) -> None:
    """Take the entries of these names out of CMake's cache; as it is read again, its makefiles are made again."""
    lines = cache.read_text(errors="surrogateescape").splitlines(keepends=True)
    kept = [line for line in lines if line.partition(":")[0] not in names]
    if kept != lines:
        cache.write_text("".join(kept), errors="surrogateescape")


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
