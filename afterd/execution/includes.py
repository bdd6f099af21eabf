"""Which C and C++ files include which, by name alone: enough to know what a header change reaches.

Names are compared without their folders and without a preprocessor's conditions, and a computed
``#include MACRO`` includes whatever is said of the macro anywhere, or everything where the build's command is not
known: the answer may be too large, which costs a compilation, and is never too small, which would cost a wrong
outcome.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePath

from afterd.execution.computed_includes import ANYTHING, ComputedIncludes, file_name
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
_SOURCES = COMPILED | INCLUDED

_NOT_SOURCES = frozenset({".git", "node_modules", ".tox", ".venv", "__pycache__", ".libs"})

_DIRECTIVE = re.compile(
    rb"""^[ \t]*(?:
        \#[ \t]*(?:include|include_next|import|embed)\b[ \t]*
            (?: ["<](?P<name>[^">\n]+)[">] | (?P<macro>[A-Za-z_]\w*)(?P<called>[ \t]*\()? )
        | [.%]include[ \t]+["'](?P<assembler>[^"'\n]+)["']
    )""",
    re.MULTILINE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Scanned:
    stamp: tuple[int, int]  # modification time in nanoseconds, size
    names: frozenset[str]
    macros: frozenset[str]  # that stand for names


class IncludeGraph:
    """The include relation of one directory tree, and of sources ``beside`` it that a build compiles as well; files
    are read again only when they changed.
    """

    def __init__(self, root: Path, beside: Iterable[Path] = ()) -> None:
        self.root = root
        self._beside = [path for path in beside if not path.is_relative_to(root)]
        self._scanned: dict[Path, _Scanned] = {}
        self._computed = ComputedIncludes()
        self._macros: Mapping[str, frozenset[str]] = {}
        self._by_name: dict[str, list[Path]] | None = None

    def includers(self, changed: Collection[str], given: str | None = None) -> set[Path]:
        """Compiled files that include, at any depth, a file named like one of ``changed``. ``given`` is what the build
        is told; None where that is not known.
        """
        self._scan()
        self._look_up_macros(given)
        return self.known_includers(changed)

    def known_includers(self, changed: Collection[str]) -> set[Path]:
        """The same, as it was when the files were last looked at."""
        if self._by_name is None:
            self._by_name = self._including()
        reached: set[Path] = set()
        names = dict.fromkeys(PurePath(path).name for path in changed)
        waiting = [*names, ANYTHING] if names else []
        for name in waiting:  # grows while we walk it
            for path in self._by_name.get(name, ()):
                if path not in reached:
                    reached.add(path)
                    if path.name not in names:
                        names[path.name] = None
                        waiting.append(path.name)
        return {path for path in reached if is_compiled(path)}

    def _including(self) -> dict[str, list[Path]]:
        """By name, the files that include one called so."""
        by_name: dict[str, list[Path]] = {}
        for path, scanned in self._scanned.items():
            for name in scanned.names.union(*map(self._named, scanned.macros)):
                by_name.setdefault(name, []).append(path)
        return by_name

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
            if known is None or known.stamp != stamp:
                known = _Scanned(stamp, *_included_files(path))
            found[path] = known
        self._scanned, self._by_name = found, None

    def _look_up_macros(self, given: str | None) -> None:
        macros = frozenset[str]().union(*(scanned.macros for scanned in self._scanned.values()))
        self._macros, self._by_name = {}, None
        if given is not None and macros:
            others = (Path(entry.path) for entry in _files(self.root) if not _is_source(entry))
            self._macros = self._computed.names(macros, given, self._scanned, others)

    def _named(self, macro: str) -> frozenset[str]:
        """What a macro may stand for: anything where that was not asked."""
        return self._macros.get(macro, frozenset({ANYTHING}))


def is_compiled(path: str | PurePath) -> bool:
    """Whether it is called like what a build turns into an object."""
    made = path if isinstance(path, PurePath) else PurePath(path)
    return made.suffix.lower() in COMPILED


def source_files(root: Path) -> Iterator[os.DirEntry[str]]:
    """Regular files below ``root`` that hold C-like text; symbolic links are not followed."""
    return filter(_is_source, _files(root))


def _is_source(entry: os.DirEntry[str]) -> bool:
    return PurePath(entry.name).suffix.lower() in _SOURCES


def _files(root: Path) -> Iterator[os.DirEntry[str]]:
    """Regular files below ``root``."""
    folders = [str(root)]
    for folder in folders:  # grows while we walk it
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders += [entry.path] if entry.name not in _NOT_SOURCES else []
                elif entry.is_file(follow_symlinks=False):
                    yield entry


def included_names(content: bytes) -> frozenset[str]:
    """The names in ``content``'s include directives, folders cut off; ``*`` for a computed one."""
    names, macros = _directives(content)
    return names | {ANYTHING} if macros else names


def _directives(content: bytes) -> tuple[frozenset[str], frozenset[str]]:
    """The names in include directives, and the macros that stand for such names."""
    names, macros = set[str](), set[str]()
    for match in _DIRECTIVE.finditer(content.replace(b"\\\r\n", b"").replace(b"\\\n", b"")):
        name = match["name"] or match["assembler"]
        if name:
            names.add(file_name(name))
        elif match["called"]:
            names.add(ANYTHING)
        else:
            macros.add(os.fsdecode(match["macro"]))
    return frozenset(names), frozenset(macros)


def _included_files(path: Path) -> tuple[frozenset[str], frozenset[str]]:
    try:
        with path.open("rb") as file:
            return _directives(file.read(PROJECT.source))
    except OSError:  # unreadable: the build will say so itself
        return frozenset(), frozenset()
