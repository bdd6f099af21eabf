"""The C text behind a line: the whole statement, the identifiers in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path

from afterd.execution.includes import IncludeGraph

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_MEMBER = re.compile(r"(?:\.|->)\s*([A-Za-z_]\w*)|(?<=[(,])\s*([A-Za-z_]\w*)\s*(?=[,)])")
_DEFINE = re.compile(r"^\s*#\s*define\s+(\w+)(.*)$")
_CONDITIONAL = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b(.*)$")
_ENDS = (";", "{", "}", ":")
_CONTROL = re.compile(r"(?:\}\s*)?(?:else\s+)?(?:if|for|while|switch)\b")
_LONGEST = 100  # lines of one statement: a parser made of templates, in libsass, has 80


class Sources:
    """Source files of one version, read once. Files are relative to ``root``."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.lines = cache(self._lines)
        self.extent = cache(self._extent)
        self.identifiers = cache(self._identifiers)
        self.includers = cache(self._includers)
        self.members = cache(self._members)
        self.conditions = cache(self._conditions)
        self._asked = cache(self._asked_uncached)
        self._ended = cache(self._ended_uncached)

    def _lines(self, file: str) -> tuple[str, ...]:
        path = self._root / file
        try:
            return tuple(path.read_text(errors="surrogateescape").split("\n")) if file else ()
        except OSError:
            return ()

    @cached_property
    def compiled(self) -> frozenset[str]:
        """The files that a build turns into objects."""
        return self._relative(self._graph.compiled())

    @cached_property
    def _graph(self) -> IncludeGraph:
        return IncludeGraph(self._root)

    def _includers(self, file: str) -> frozenset[str]:
        """Those of them that include a file of this name, at any depth."""
        return self.compiled & self._relative(self._graph.known_includers([file]))

    def _relative(self, paths: Iterable[Path]) -> frozenset[str]:
        return frozenset(str(path.relative_to(self._root)) for path in paths)

    def text(self, file: str, line: int) -> str:
        """The line without the white space around it; empty where there is none."""
        lines = self.lines(file)
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    def _extent(self, file: str, line: int) -> tuple[int, int]:
        """First and last line of the statement that a line is part of."""
        lines = self.lines(file)
        if not 0 < line <= len(lines):
            return line, line
        first = last = line
        while first > 1 and line - first < _LONGEST and not self._ended(file, first - 2):
            first -= 1
        while last < len(lines) and last - line < _LONGEST and not self._ended(file, last - 1):
            last += 1
        return first, last

    def _ended_uncached(self, file: str, at: int) -> bool:
        return _statement_ends_at(self.lines(file), at)

    def _identifiers(self, file: str, line: int) -> frozenset[str]:
        """Every identifier of the statement that a line is part of."""
        first, last = self.extent(file, line)
        lines = self.lines(file)[first - 1 : last]
        return frozenset(name for text in lines for name in _IDENTIFIER.findall(text))

    def _conditions(self, file: str, line: int) -> frozenset[str]:
        """Every identifier that the preprocessor is asked about before it lets a line through."""
        asked = self._asked(file)
        return asked[line - 1] if 0 < line <= len(asked) else frozenset()

    def _asked_uncached(self, file: str) -> list[frozenset[str]]:
        """The same for every line of a file."""
        found: list[frozenset[str]] = []
        around: list[frozenset[str]] = []
        for text in self.lines(file):
            directive = _CONDITIONAL.match(text)
            if directive is None:
                found.append(around[-1] if around else frozenset())
                continue
            kind, asked = directive[1], identifiers(_without_comment(directive[2])) - {"defined"}
            if kind.startswith("if"):
                around.append((around[-1] if around else frozenset()) | asked)
            elif around and kind == "endif":
                around.pop()
            elif around:
                around[-1] |= asked
            found.append(frozenset())
        return found

    def _members(self, file: str, line: int) -> frozenset[str]:
        """What the statement that a line is part of may name as a field: after a point or an arrow, or as an
        argument, as ``offsetof`` and a program's own macros are given it.
        """
        first, last = self.extent(file, line)
        text = "\n".join(self.lines(file)[first - 1 : last])
        return frozenset(found[1] or found[2] for found in _MEMBER.finditer(text))


def _statement_ends_at(lines: Sequence[str], at: int) -> bool:
    """Whether a statement, a block, a label or a preprocessor line ends here; a line of comment goes
    with the one above it.
    """
    while at > 0 and lines[at].strip() and not _without_comment(lines[at]).strip():
        at -= 1
    code = _without_comment(lines[at]).strip()
    if not code or code.endswith(_ENDS) or code.startswith("#") or code == "else":
        return True
    if code.startswith("{") and code.endswith("},"):
        return code.count("{") == code.count("}")  # a row of a table is made by itself
    return bool(_CONTROL.match(code)) and code.endswith(")") and code.count("(") == code.count(")")


def _without_comment(line: str) -> str:
    return re.sub(r"//.*$|/\*.*?\*/|^\s*\*.*$", "", line)


def macro_definition(line: str) -> tuple[str, str] | None:
    """(name, rest) of a ``#define`` line."""
    found = _DEFINE.match(line)
    return (found.group(1), found.group(2)) if found else None


def identifiers(text: str) -> frozenset[str]:
    """Every identifier in a text."""
    return frozenset(_IDENTIFIER.findall(text))
