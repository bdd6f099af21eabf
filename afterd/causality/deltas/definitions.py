"""Changes that only define what others use."""

from __future__ import annotations

import re

from afterd.model.change import Change

_DEFINES = re.compile(r"(?:async\s+def|def|class|import|from)\b|@")
_SAYS_NOTHING = re.compile(r"#|\"|'|\Z")


def only_defines(change: Change) -> bool:
    """Whether it adds functions, classes or imports of Python and nothing else: where what uses them is undone, it does
    nothing.
    """
    added = [line for line in change.lines("+") if line.strip()]
    if change.lines("-") or not added:
        return False
    margin = min(len(line) - len(line.lstrip()) for line in added)
    outer = [line.strip() for line in added if len(line) - len(line.lstrip()) == margin]
    heads = [line for line in outer if not _SAYS_NOTHING.match(line)]
    return bool(heads) and all(map(_is_head, heads))


def _is_head(line: str) -> bool:
    """Whether a line begins a definition, or ends the head or the brackets of one."""
    return bool(_DEFINES.match(line)) or line[0] in ")]}"
