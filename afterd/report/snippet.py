"""A change undone, as the lines a person would edit."""

from __future__ import annotations

import re

_HEADER = re.compile(r"@@ -(?P<old>\S+) \+(?P<new>\S+) @@")


def undone(patch: str) -> str:
    """The hunks that take ``patch`` back: its two sides change places, removals still first.

    A patch without hunks (a mode change, a binary file) stays as it is described.
    """
    if not _HEADER.search(patch):
        return patch
    lines: list[str] = []
    removed: list[str] = []
    added: list[str] = []
    last = lines
    for line in patch.split("\n"):
        if line.startswith(("-", "+")):
            last = removed if line.startswith("-") else added
            last.append(("+" if last is removed else "-") + line[1:])
        elif line.startswith("\\"):  # "No newline at end of file": of the line before
            last.append(line)
        else:
            lines += [*added, *removed]
            added, removed = [], []
            lines.append(_HEADER.sub(r"@@ -\g<new> +\g<old> @@", line))
            last = lines
    return "\n".join([*lines, *added, *removed])
