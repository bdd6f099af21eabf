"""The names on each line of a grammar: what a parser or a scanner is made of (bison, flex, re2c, gperf).

Its actions are C, with what stands for values between them, so words are enough: what they call must be there, and a
rule must be there for who names it.
"""

from __future__ import annotations

import re

from afterd.vcs.c_reader import FileNames, mentioned_names

GRAMMARS = frozenset([".y", ".yy", ".ypp", ".l", ".ll", ".lpp", ".re", ".gperf"])
"""What a parser, a scanner or a table is made of."""
_ASIDE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_RULE = re.compile(r"^([A-Za-z_][\w.]*)\s*(?:\[\w+\]\s*)?:(?!:)")
_TOKENS = re.compile(r"^%(?:token|left|right|nonassoc|precedence)\b(?:\s*<[^>]*>)?(.*)")


def grammar_names(content: bytes) -> FileNames:
    """The rules and tokens that a grammar defines, and all that it mentions."""
    found = FileNames()
    text = _ASIDE.sub(_blank, content.decode("utf-8", "replace"))
    for number, line in enumerate(text.split("\n"), start=1):
        if tokens := _TOKENS.match(line):
            found.defines[number] |= {each.removeprefix(".") for each in mentioned_names(tokens[1])}
            continue
        if rule := _RULE.match(line):
            found.defines[number].add(rule[1])
            found.private.add(rule[1])
        found.uses[number] |= mentioned_names(line) - found.defines.get(number, set())
    return found


def _blank(found: re.Match[str]) -> str:
    """As many lines of nothing."""
    return "\n" * found[0].count("\n") or " "
