"""Programs that make does not link anew when the library changes that they are linked with.

What a makefile hands to the linker as an option (``AM_LDFLAGS = ../src/libx.la``, ``LDADD = -L../src -lx``) is nothing
that a program is made of, as far as Automake and make know: a static library that was built anew is not in it. Somebody
who works on the project sees a stale test now and then, and calls it flaky; a variant would be measured by another
one's code. So such programs are taken away before a build, and linked by it or by the test.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from afterd.execution.freshness import files_below

_MAKEFILE = re.compile(r"(?:GNU)?[Mm]akefile(?:\.am|\.in)?")
_ASSIGNED = re.compile(
    r"^[ \t]*(?P<name>\w*(?:LDFLAGS|LIBS|LDADD))[ \t]*[+:?]?=(?P<value>(?:[^\n\\]|\\\n|\\)*)",
    re.MULTILINE,
)
_FOLDER = re.compile(r"(?:^|\s)-L ?(?:[\w.]|\$[({]\w*builddir)")
_LIBRARY = re.compile(r"(?:^|\s)[^\s-]\S*\.l?a\b")
_LIBTOOL = (
    ".libs"  # what runs these is a script beside the folder, which make takes for the program
)
_PROGRAM = b"\x7fELF"


def forget_programs(root: Path, tracked: Collection[bytes]) -> None:
    """Take the programs away that no tree holds and that may be linked with what make does not know of."""
    for folder in _folders(root):
        for path in folder.iterdir():
            if _is_program(path) and os.fsencode(path.relative_to(root)) not in tracked:
                path.unlink()


def _folders(root: Path) -> Iterator[Path]:
    """Those whose makefile hands a library of the project to the linker as an option."""
    found = (path for path in files_below(root) if _MAKEFILE.fullmatch(path.name))
    yield from dict.fromkeys(path.parent for path in found if _hands_over(path))


def _hands_over(makefile: Path) -> bool:
    text = makefile.read_text(encoding="utf-8", errors="replace")
    return any(
        _FOLDER.search(match["value"])
        or (not match["name"].endswith("LDADD") and _LIBRARY.search(match["value"]))
        for match in _ASSIGNED.finditer(text)
    )


def _is_program(path: Path) -> bool:
    if path.suffix or path.parent.name == _LIBTOOL or path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_PROGRAM)) == _PROGRAM
