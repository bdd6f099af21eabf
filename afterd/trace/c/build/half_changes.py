"""Warnings of half a change that compiles all the same: of pointers and numbers of C that do not go together, of a
function that ends without the value that it gives, of a variable that was given none.

Where a function takes another type, a variant with its old head and a new call is no version of the program, and what
it does by chance may repair a test; so may what stands in a register where a function of ucode's was half undone. C
compilers of today refuse some of it and older ones warn, so what both versions write as well is their own way of
writing, and what neither does speaks against a variant.
"""

from __future__ import annotations

import re
from itertools import pairwise

ASKED = (
    "-Wincompatible-pointer-types",
    "-Wno-error=incompatible-pointer-types",
    "-Wno-error=incompatible-function-pointer-types",
    "-Wno-incompatible-pointer-types-discards-qualifiers",
    "-Wint-conversion",
    "-Wno-error=int-conversion",
    "-Wreturn-type",
    "-Wno-error=return-type",
    "-Wuninitialized",
    "-Wno-error=uninitialized",
)
"""What clang is told to be warned of them, behind what was said of warnings before."""
_WARNED = re.compile(
    r": warning: (?P<said>.*)"
    r" \[-W(?:incompatible-(?:function-)?pointer-types|int-conversion|return-type|uninitialized)\]$"
)
_ASIDE = re.compile(r"^\s*\d+ \| ?|/\*.*?(?:\*/|$)|//.*|\s+")
"""What a line that is shown says nothing by: its number, comments and white space, which differ where one answer is
given for the same preprocessed text.
"""


def warned(said: str) -> frozenset[str]:
    """Each of these warnings, with the line that it shows and without its number."""
    return frozenset(told for _, told in _warnings(said))


def with_errors(said: str, known: frozenset[str]) -> str:
    """A compiler's words, in which these warnings are errors, but for those that are ``known``; empty without any."""
    new = {line for line, told in _warnings(said) if told not in known}
    lines = [_as_error(line) if line in new else line for line in said.splitlines()]
    return "\n".join(lines) if new else ""


def _as_error(line: str) -> str:
    return line.replace(": warning: ", ": error: ", 1)


def _warnings(said: str) -> list[tuple[str, str]]:
    """The line of each of these warnings, and what it tells."""
    return [
        (line, f"{warned['said']}\n{_ASIDE.sub('', shown)}")
        for line, shown in pairwise([*said.splitlines(), ""])
        if (warned := _WARNED.search(line))
    ]
