"""AVA: which test of which file failed, as it tells of a test its title alone, below words of the file's path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

_NOT_OK = re.compile(r"^not ok \d+ - (?P<title>(?:(?!# (?:TODO|SKIP))[^\n])*)$", re.MULTILINE)
_BETWEEN = " › "
_LEFT_OUT = re.compile(r"\.(?:spec|test)(?=\.)|test-|\.\w+$")


def failed_titles(output: str, files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """File and title of each failed test; without a file where more than one may be meant.

    Where several files ran a title begins with what tells them apart; the title of one file does not.
    """
    for failed in _NOT_OK.finditer(output):
        title = failed["title"].strip()
        found = {file: own for file in files if (own := _below(file, title)) is not None}
        if found:  # the longest prefix: `sub › parse` is of sub/parse.js, not of parse.js in another folder
            file = min(found, key=lambda each: len(found[each]))
            yield file, found[file]
        else:
            yield (files[0] if len(files) == 1 else ""), title


def wanted_title(title: str) -> str:
    """A title as AVA's pattern: a mark in front of it would ask for all others."""
    return f"*{title[1:]}" if title.startswith("!") else title


def _below(file: str, title: str) -> str | None:
    """The title without the words that stand for the file; None where they are of another one."""
    path = PurePath(file)
    name = _LEFT_OUT.sub("", path.name)
    parts = [*(part for part in path.parent.parts if part != "__tests__"), name]
    for begin in range(len(parts)):
        prefix = _BETWEEN.join(parts[begin:]) + _BETWEEN
        if title.startswith(prefix):
            return title.removeprefix(prefix)
    return None
