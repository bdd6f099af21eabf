"""Which C and C++ files include which, by name alone: enough to know what a header change reaches.

Names are compared without their folders and without a preprocessor's conditions, and a computed
``#include MACRO`` includes everything: the answer may be too large, which costs a compilation, and
is never too small, which would cost a wrong outcome.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePath

from afterd.limits import PROJECT

_COMPILED_BY = {
    "C and its kin": (".c", ".cc", ".cpp", ".cxx", ".c++", ".cp", ".m", ".mm", ".cu"),
    "an assembler": (".s", ".sx", ".asm"),
    "a generator": (".y", ".yy", ".ypp", ".l", ".ll", ".lpp", ".rc"),
}
COMPILED = frozenset(suffix for suffixes in _COMPILED_BY.values() for suffix in suffixes)
"""Suffixes (lower case) of files that a build turns into objects."""

_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tcc", ".tpp", ".txx")
INCLUDED = frozenset({*_HEADERS, ".def", ".tab", ".i", ".ii"})
"""Suffixes (lower case) of files that are read by #include and may themselves include."""

_NOT_SOURCES = frozenset({".git", "node_modules", ".tox", ".venv", "__pycache__", ".libs"})
_ANYTHING = "*"

_DIRECTIVE = re.compile(
    rb"""^[ \t]*(?:
        \#[ \t]*(?:include|include_next|import|embed)\b[ \t]*
            (?: ["<](?P<name>[^">\n]+)[">] | (?P<macro>[A-Za-z_]) )
        | [.%]include[ \t]+["'](?P<assembler>[^"'\n]+)["']
    )""",
    re.MULTILINE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Scanned:
    stamp: tuple[int, int]  # modification time in nanoseconds, size
    names: frozenset[str]


class IncludeGraph:
    """The include relation of one directory tree, and of sources ``beside`` it that a build compiles as well; files
    are read again only when they changed.
    """

    def __init__(self, root: Path, beside: Iterable[Path] = ()) -> None:
        self.root = root
        self._beside = [path for path in beside if not path.is_relative_to(root)]
        self._scanned: dict[Path, _Scanned] = {}

    def includers(self, changed: Collection[str]) -> set[Path]:
        """Compiled files that include, at any depth, a file named like one of ``changed``."""
        self._scan()
        return self.known_includers(changed)

    def known_includers(self, changed: Collection[str]) -> set[Path]:
        """The same, as it was when the files were last looked at."""
        by_name: dict[str, list[Path]] = {}
        for path, scanned in self._scanned.items():
            for name in scanned.names:
                by_name.setdefault(name, []).append(path)
        reached: set[Path] = set()
        names = [PurePath(path).name for path in changed]
        names += [_ANYTHING] if names else []
        for name in names:  # grows while we walk it
            for path in by_name.pop(name, ()):
                if path not in reached:
                    reached.add(path)
                    names.append(path.name)
        return {path for path in reached if is_compiled(path)}

    def files(self) -> set[Path]:
        """Every file that is compiled or included."""
        self._scan()
        return {*self._scanned}

    def compiled(self) -> set[Path]:
        """Every compiled file of the tree."""
        self._scan()
        return {path for path in self._scanned if is_compiled(path)}

    def _scan(self) -> None:
        found: dict[Path, _Scanned] = {}
        inside = ((Path(e.path), e.stat(follow_symlinks=False)) for e in source_files(self.root))
        beside = ((path, path.stat()) for path in self._beside if path.is_file())
        for path, status in chain(inside, beside):
            stamp = (status.st_mtime_ns, status.st_size)
            known = self._scanned.get(path)
            found[path] = (
                known if known and known.stamp == stamp else _Scanned(stamp, _included_files(path))
            )
        self._scanned = found


def is_compiled(path: str | PurePath) -> bool:
    """Whether it is called like what a build turns into an object."""
    return PurePath(path).suffix.lower() in COMPILED


def source_files(root: Path) -> Iterator[os.DirEntry[str]]:
    """Regular files below ``root`` that hold C-like text; symbolic links are not followed."""
    folders = [str(root)]
    for folder in folders:  # grows while we walk it
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders += [entry.path] if entry.name not in _NOT_SOURCES else []
                elif PurePath(entry.name).suffix.lower() in COMPILED | INCLUDED and entry.is_file(
                    follow_symlinks=False
                ):
                    yield entry


def included_names(content: bytes) -> frozenset[str]:
    """The names in ``content``'s include directives, folders cut off; ``*`` for a computed one."""
    names = set()
    for match in _DIRECTIVE.finditer(content.replace(b"\\\r\n", b"").replace(b"\\\n", b"")):
        name = match["name"] or match["assembler"]
        text = PurePath(os.fsdecode(name.strip().replace(b"\\", b"/"))).name if name else _ANYTHING
        names.add(text)
    return frozenset(names)


def _included_files(path: Path) -> frozenset[str]:
    try:
        with path.open("rb") as file:
            return included_names(file.read(PROJECT.source))
    except OSError:  # unreadable: the build will say so itself
        return frozenset()
