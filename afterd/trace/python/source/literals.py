"""Changes that name nothing: rows of a table, of numbers and texts alone.

Whether they are undone cannot make a name unbound or an argument too many, so nothing needs to be read for it. (A
table of wcwidth has four thousand rows: each question parsed for 0.2 s, and there were seven hundred.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from afterd.model.change import Change, ChangeForm, ChangeSet

_STRING = r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\""""
_COMMENT = r"\#[^\n]*"
_NUMBER = r"0[xX][0-9a-fA-F_]+|\d[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?\d+)?[jJ]?"
_ROW = re.compile(rf"(?:\s+|{_COMMENT}|{_NUMBER}|[rbRBuU]{{0,2}}(?:{_STRING})|[,:()\[\]{{}}+*-])*+")
_TEXT = re.compile(f"{_COMMENT}|{_STRING}")
_OPENED, _CLOSED = "([{", ")]}"


def nameless_changes(changes: Iterable[Change]) -> ChangeSet:
    """Those whose lines, old and new, are rows of literals, whole ones: what they open they close."""
    return frozenset(
        change.id
        for change in changes
        if change.form is ChangeForm.HUNK
        and change.file.endswith(".py")
        and all(_are_rows(change.lines(sign)) for sign in "-+")
    )


def _are_rows(lines: Sequence[str]) -> bool:
    text = "\n".join(lines)
    if not _ROW.fullmatch(text):
        return False
    bare = _TEXT.sub(lambda found: "" if found[0].startswith("#") else "0", text).rstrip()
    depth = 0
    for sign in bare:
        depth += (sign in _OPENED) - (sign in _CLOSED)
        if depth < 0:
            return False
    return depth == 0 and (not bare or bare.endswith(","))
