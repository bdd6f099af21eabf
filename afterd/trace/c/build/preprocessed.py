"""What the preprocessor makes of a source, with the place that each line of that was written at.

Which rows of a table a build has (``#ifdef``), how many a macro makes, and what a macro of the build's command
line stands for is no question of the text alone: the compiler that the traced build used is asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from posixpath import join, normpath

from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits
from afterd.trace.c.build.compilations import Compilation, compilations, moved
from afterd.trace.c.build.elements import integer_of

_ENUMERATION = re.compile(r"\benum\b[^;{}()=]*\{([^{}]*)\}")
_ENUMERATOR = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:=\s*([^=].*?))?\s*", re.DOTALL)
_COUNTED = re.compile(r"(?:([A-Za-z_]\w*)\s*(?:\+\s*)?)?(0[xX][\da-fA-F]+|\d*)[uUlL]*")
_MARKER = re.compile(r'#(?:line)? (\d+) "((?:[^"\\]|\\.)*)"')

Place = tuple[str, int]
"""A line of a file, relative to the source tree's root."""


@dataclass(frozen=True)
class Listing:
    """Lines of preprocessed text, and where each was written; ``first`` is the first of a place's."""

    lines: tuple[str, ...]
    places: tuple[Place, ...]
    first: Mapping[Place, int]

    @cached_property
    def enumerators(self) -> Mapping[str, int]:
        """The values of enumerators that are counted or plain numbers: debug information has those that are used."""
        found: dict[str, int] = {}
        for listed in _ENUMERATION.findall("\n".join(self.lines)):
            value: int | None = -1
            for each in map(_ENUMERATOR.fullmatch, listed.split(",")):
                if each is not None:
                    given = each[2]
                    value = _value(given, found) if given else None if value is None else value + 1
                    if value is not None:
                        found[each[1]] = value
        return found


def _value(text: str, known: Mapping[str, int]) -> int | None:
    """What a number, an enumerator, or so much more than one is; None of anything else."""
    counted = _COUNTED.fullmatch(text)
    if counted is None or (counted[1] and counted[1] not in known):
        return None
    more = integer_of(counted[2] or "0")
    return None if more is None else (known[counted[1]] if counted[1] else 0) + more


class Preprocessed:
    """Preprocesses the sources of a build that was made in ``built`` and now stands in ``standing``."""

    def __init__(self, store: Path, built: Path, standing: Path, limits: ProcessLimits) -> None:
        self._store = store
        self._built, self._standing = built, standing
        self._limits = limits
        self.listing = cache(self._listing_uncached)

    def _listing_uncached(self, source: str) -> Listing | None:
        """What becomes of a source, by its path from the root; None where nobody tells."""
        wanted = (self._standing / source).resolve()
        for each in compilations(self._store):
            compilation = moved(each, self._built, self._standing)
            if compilation.source.resolve() == wanted:
                return self._read(compilation)
        return None

    def _read(self, compilation: Compilation) -> Listing | None:
        argv = (*compilation.argv, "-E")
        result = run(Command(argv, compilation.directory, scrubbed_environment()), self._limits)
        try:
            text = result.stdout.text() if result.succeeded else ""
        finally:
            result.remove()
        return listing_of(text, compilation.directory, self._standing) if text else None


def listing_of(text: str, directory: Path, root: Path) -> Listing:
    """Preprocessed text by its line markers, of a compiler that ran in ``directory``."""
    lines, places, first = list[str](), list[Place](), dict[Place, int]()
    file, number = "", 0
    for line in text.split("\n"):
        if marker := _MARKER.match(line):
            file, number = _relative(marker[2], str(directory), str(root)), int(marker[1])
            continue
        first.setdefault((file, number), len(lines))
        lines.append(line)
        places.append((file, number))
        number += 1
    return Listing(tuple(lines), tuple(places), first)


@cache
def _relative(file: str, directory: str, root: str) -> str:
    path = normpath(join(directory, file))
    return path.removeprefix(root + "/")
