"""Woven text without debug information: afterd reads that in the IR that it keeps, the object needs none.

Of a module of C++ it is half of the text, and a third of the time that LLVM takes for it.
"""

from __future__ import annotations

import re

_ATTACHED = re.compile(
    r", !(?:dbg|heapallocsite|llvm\.loop) !\d+(?=(?:, ![\w.]+ !\d+)*$)", re.MULTILINE
)
_SUBPROGRAM = re.compile(r" !dbg !\d+(?= \{$)", re.MULTILINE)
_NAMED = re.compile(r"^!llvm\.dbg\.cu = .*\n", re.MULTILINE)
_NUMBER = re.compile(r"!(\d+)\b")


def undebugged(code: str, metadata: str) -> str:
    """The module of this code, and of what it uses of the metadata at its end."""
    code = _ATTACHED.sub("", _SUBPROGRAM.sub("", code))
    named, first, nodes = metadata.partition("\n!0 = ")
    named = _NAMED.sub("", named + "\n")
    lines = (first.lstrip() + nodes).split("\n")
    known = {line[1 : line.find(" ")]: line for line in lines}
    kept = dict[str, str]()
    waiting = {*_NUMBER.findall(code), *_NUMBER.findall(named)}
    while waiting:
        number = waiting.pop()
        if number in known and number not in kept:
            kept[number] = known[number]
            waiting.update(_NUMBER.findall(known[number]))
    if any("!DICompileUnit(" in node for node in kept.values()):
        return code + metadata  # an attachment of another kind leads there
    return "\n".join([code + named, *kept.values(), ""])
