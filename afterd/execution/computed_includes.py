"""What ``#include MACRO`` may include: what the files of a tree, and the command that builds it, say of the macro.

Sources define it, or a build is told of it: ``-DMACRO="name.h"``, ``set(MACRO "name.h")``. Where a value is said
that is no file's name it may be any. A macro that nobody defines is a system header's, which names system headers,
or nobody's: ``#ifdef MACRO`` stands around its include.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePath

from afterd.limits import GIT, PROJECT

ANYTHING = "*"

Said = frozenset[tuple[str, str]]
"""Macros, each with the name of a file that it may stand for."""

_LITERAL = re.compile(rb'\s*["<]([^">\n]+)[">]')
_NAME = re.compile(rb"[\w+-]+\.\w+")
_IS_SET = re.compile(rb"[\"']?\s*=")


class ComputedIncludes:
    """Files are read again only when they changed, or other macros are asked for."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[object, Said]] = {}

    def names(
        self,
        macros: Collection[str],
        given: str,
        sources: Iterable[Path],
        others: Iterable[Path],
    ) -> Mapping[str, frozenset[str]]:
        """By macro, the files without their folders: of what ``sources`` define, and what a build is ``given`` or is
        told by ``others``.
        """
        found: dict[str, set[str]] = {macro: set() for macro in macros}
        words = re.compile(b"|".join(map(os.fsencode, sorted(macros))))
        said = [_told(os.fsencode(given), words)]
        said += (self._of(path, words, _defined, PROJECT.source) for path in sources)
        said += (self._of(path, words, _told, PROJECT.text) for path in others)
        for macro, name in frozenset[tuple[str, str]]().union(*said):
            found[macro].add(name)
        return {macro: frozenset(names) for macro, names in found.items()}

    def _of(
        self,
        path: Path,
        words: re.Pattern[bytes],
        reading: Callable[[bytes, re.Pattern[bytes]], Said],
        most: int,
    ) -> Said:
        try:
            status = path.stat()
            key = status.st_mtime_ns, status.st_size, words.pattern
            if path not in self._known or self._known[path][0] != key:
                with path.open("rb") as file:
                    begin = file.read(GIT.binary)
                    text = b"" if b"\0" in begin else begin + file.read(most)
                self._known[path] = key, reading(text.replace(b"\\\n", b" "), words)
        except OSError:  # unreadable: the build will say so itself
            return frozenset()
        return self._known[path][1]


def _defined(text: bytes, words: re.Pattern[bytes]) -> Said:
    """What a source defines."""
    lines = re.finditer(
        rb"^[ \t]*#[ \t]*define[ \t]+(%b)\b(.*)" % words.pattern, text, re.MULTILINE
    )
    literal = ((line[1], _LITERAL.match(line[2])) for line in lines)
    return frozenset(
        (os.fsdecode(macro), file_name(value[1]) if value else ANYTHING) for macro, value in literal
    )


def _told(text: bytes, words: re.Pattern[bytes]) -> Said:
    """What any other text says on a line with the macro: names of files, else that it is set."""
    return frozenset(_lines_told(text, words)) if words.search(text) else frozenset()


def _lines_told(text: bytes, words: re.Pattern[bytes]) -> Iterator[tuple[str, str]]:
    for line in re.finditer(rb"(?:(-D\s*)|(?<!\w))(%b)\b(.*)" % words.pattern, text):
        names = _NAME.findall(line[3])
        for name in names:
            yield os.fsdecode(line[2]), file_name(name)
        if not names and (line[1] or _IS_SET.match(line[3])):
            yield os.fsdecode(line[2]), ANYTHING


def file_name(included: bytes) -> str:
    """The name of an included file without its folder."""
    return PurePath(os.fsdecode(included.strip().replace(b"\\", b"/"))).name
