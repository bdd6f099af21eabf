"""What the linker keeps apart: names that are a module's own, and that another module has too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from afterd.trace.c.ir.ir import NAME

_OWN = re.compile(
    rf"^(?:@({NAME}) = (?:internal|private) |define (?:internal|private) .*?@({NAME})\()",
    re.MULTILINE,
)
_SYMBOL = re.compile(rf'c?"[^"\n]*"|@({NAME})')


def told_apart(texts: Sequence[str]) -> list[str]:
    """The modules' IR with static names numbered by module where several modules have the name."""
    if len(texts) < 2:
        return list(texts)
    named = Counter(name for text in texts for name in _names(text))
    return [_numbered(text, at, named) for at, text in enumerate(texts)]


def _names(text: str) -> set[str]:
    return {match.group(1) for match in _SYMBOL.finditer(text) if match.group(1)}


def _numbered(text: str, number: int, named: Counter[str]) -> str:
    found = {one or other for one, other in _OWN.findall(text)}
    own = {name for name in found if named[name] > 1}

    def renamed(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in own:
            return match.group()
        suffix = f".module{number}"  # clang's own suffixes are numbers
        return f'@{name[:-1]}{suffix}"' if name.endswith('"') else f"@{name}{suffix}"

    return _SYMBOL.sub(renamed, text) if own else text
