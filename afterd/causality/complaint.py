"""What a compiler's complaint speaks of: the names it quotes, the files, the source lines it shows.

A line that is shown was written by a change, or needs what a change took away. In the first case the
change is known exactly, whatever the message says of it ("too few arguments to function call").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from afterd.model.change import Change

_QUOTED = re.compile(r"['‘’`\"]([A-Za-z_][\w.:]*)['‘’`\"]")
_FILE = re.compile(r"^[\w./+-]+\.\w{1,4}(?=: )|[\w./+-]+\.\w{1,4}(?=:\d)", re.MULTILINE)
_UPWARD = re.compile(r"^(?:\.\.?/)+")  # from the folder that is built in
_LINKED = re.compile(
    r"(?:undefined reference to|undefined symbol:?|multiple definition of|duplicate symbol:?)"
    r" [`'\"‘]?(\w+)"
)
_CRASHED = re.compile(r"Segmentation fault|Aborted\b|core dumped|Bus error|Illegal instruction")
_REFUSED = re.compile(
    r"\berror\b.*:|undefined (?:reference|symbol)|multiple definition", re.IGNORECASE
)
_UNKNOWN = re.compile(
    r"(?:undeclared (?:identifier|function|label)|no member named|unknown type name|implicit declaration of function"
    r"|undefined reference to|undefined symbol:?) [`'\"‘]?([A-Za-z_]\w*)|[‘'`]([A-Za-z_]\w*)[’'] undeclared"
    r"|symbol [‘'`]?([A-Za-z_]\w*)[’']? is used, but is not defined"
)
_LACKED = re.compile(
    r"(?:\bFile |Cannot find source file:\s*|No rule to make target ['`‘])(?P<named>[\w./+-]+)"
    r"|['`‘]?(?P<opened>[\w./+-]+)['’]?: No such file or directory|'(?P<sought>[\w./+-]+)' file not found"
)
_SYSTEMS = re.compile(
    r"^/[^:\n]*/include/(?P<header>[^:\n]+):\d+:\d+: (?:fatal )?error: ", re.MULTILINE
)
_INCLUDED = re.compile(r"^\s*#\s*(?:include|import)\s*[<\"](?P<header>[^>\"]+)[>\"]")
_MESSAGE = re.compile(
    r":\d+(?::\d+|\.\d+(?:-[\d.]+)?): (?:fatal error|error|note): |:\d+: undefined reference to "
)
"""A compiler's, bison's (``5242.15-40``) and a linker's."""
_GUTTER = re.compile(r"^\s*\d+ \| ?")
_NAME = re.compile(r"[A-Za-z_]\w+")
_UNPARSED = re.compile(r"\b(?:SyntaxError|IndentationError|TabError)\b")


@dataclass(frozen=True, slots=True)
class Complaint:
    """``lines`` are source lines without the white space around them. ``unparsed``: a file is not even
    understood, and what it quotes is no name. ``missing``: files that are not there. ``clashing``: the
    system's headers that an error is in, as a program includes them. ``unknown``: names that nothing defines.
    """

    names: frozenset[str]
    files: frozenset[str]
    lines: frozenset[str]
    unparsed: bool = False
    missing: frozenset[str] = frozenset()
    clashing: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()

    def is_in(self, file: str) -> bool:
        """Whether it speaks of this file."""
        return any(file.endswith(each) for each in self.files)

    def lacks(self, file: str) -> bool:
        """Whether this file is said not to be there."""
        return any(f"/{file}".endswith(f"/{each}") for each in self.missing)


def complaint(said: str) -> Complaint:
    """Read what gcc or clang said; of other compilers only the quoted names are understood."""
    quoted = _QUOTED.findall(said)
    return Complaint(
        frozenset((*quoted, *(name.rpartition(".")[2] for name in quoted))),
        frozenset(_UPWARD.sub("", name) for name in _FILE.findall(said)),
        frozenset(_shown_lines(said)),
        _UNPARSED.search(said) is not None,
        frozenset(_UPWARD.sub("", found[found.lastgroup or 0]) for found in _LACKED.finditer(said)),
        frozenset(found["header"] for found in _SYSTEMS.finditer(said)),
        frozenset(found[found.lastindex or 0] for found in _UNKNOWN.finditer(said)),
    )


def has_crashed(said: str) -> bool:
    """Whether a build ended because a program crashed that it had made, and not by a word against the text."""
    return _CRASHED.search(said) is not None and not _REFUSED.search(said)


def symbols(said: str) -> frozenset[str]:
    """The names that a linker misses, or has twice."""
    return frozenset(_LINKED.findall(said))


def added_lines(change: Change) -> frozenset[str]:
    """The lines that a complaint may show of the version that has the change."""
    added = (line.strip() for line in change.lines("+"))
    return frozenset(line for line in added if _NAME.search(line))


def included_headers(change: Change) -> frozenset[str]:
    """The headers that the version with the change includes by it."""
    found = (_INCLUDED.match(line) for line in change.lines("+"))
    return frozenset(each["header"] for each in found if each)


def _shown_lines(said: str) -> list[str]:
    """The line below each message."""
    lines = said.splitlines()
    below = (after for line, after in pairwise(lines) if _MESSAGE.search(line))
    shown = (_GUTTER.sub("", line).strip() for line in below)
    return [line for line in shown if _NAME.search(line)]
