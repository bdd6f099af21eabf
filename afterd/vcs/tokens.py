"""Tokens of brace languages, precise enough to tell code from comments and strings.

Text is read as Latin-1, so every byte is one character and no file is refused for its encoding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from afterd.vcs.languages import Language


class TokenKind(StrEnum):
    """What a token is; white space is not a token, its presence is ``Token.spaced``."""

    WORD = "word"
    NUMBER = "number"
    STRING = "string"
    PUNCTUATION = "punctuation"
    COMMENT = "comment"
    DIRECTIVE = "directive"  # a whole preprocessor line, with its continuations


@dataclass(frozen=True, slots=True)
class Token:
    """A token with its first and last line (1-based); ``spaced``: white space or a comment
    stands before it.
    """

    kind: TokenKind
    text: str
    line: int
    end_line: int
    spaced: bool


_SPLICE = r"\\\r?\n"
_COMMENT = rf"//(?:{_SPLICE}|[^\n])*|/\*.*?(?:\*/|\Z)"
_STRING = r'(?:u8|[uUL])?"(?:\\\r?\n|\\.|[^"\\\n])*"?'
_QUOTED = rf"(?:u8|[uUL])?'(?:{_SPLICE}|\\.|[^'\\\n])*'?"
_RUST_CHARACTER = r"b?'(?:\\[^\n']+|\\'|[^\\'\n])'"
_RAW = r"`[^`]*`?"
_PUNCTUATION = (
    r"<<=|>>=|\.\.\.|->\*|<=>|===|!==|=>|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|##|."
)
_KINDS = {kind.value: kind for kind in TokenKind}
_DIRECTIVE = re.compile(rf"#(?:{_SPLICE}|{_COMMENT}|{_STRING}|[^\n])*", re.DOTALL)


def _scanner(*quotes: str) -> re.Pattern[str]:
    groups = {
        "space": rf"[\s]+|{_SPLICE}",
        "comment": _COMMENT,
        "string": "|".join((_STRING, *quotes)),
        "word": r"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*",
        "number": r"\.?\d(?:[eEpP][+-]|[\w.]|'\w)*",
        "punctuation": _PUNCTUATION,
    }
    pattern = "|".join(f"(?P<{name}>{expression})" for name, expression in groups.items())
    return re.compile(pattern, re.DOTALL | re.ASCII)


_SCANNERS = {
    Language.C: _scanner(_QUOTED),
    Language.JAVA: _scanner(_QUOTED),
    Language.SCRIPT: _scanner(_QUOTED, _RAW),
    Language.RUST: _scanner(_RUST_CHARACTER),
}


def tokens(text: str, language: Language) -> Iterator[Token]:
    """The tokens of ``text``, comments included; never fails (what is not closed ends somewhere).

    A line splice counts as white space, so a word that a splice cuts in two is two tokens.
    """
    scan = _SCANNERS[language].match
    position, line, spaced, fresh = 0, 1, True, True  # fresh: nothing but comments on this line yet
    while (match := scan(text, position)) is not None:
        kind = match.lastgroup or ""
        if kind == "punctuation" and match[0] == "#" and fresh and language is Language.C:
            match = _DIRECTIVE.match(text, position) or match
            kind = TokenKind.DIRECTIVE
        found = match[0]
        newlines = found.count("\n")
        if kind != "space":
            yield Token(_KINDS[kind], found, line, line + newlines, spaced)
        spaced = kind in {"space", TokenKind.COMMENT}
        if kind == "space":
            fresh = fresh or (newlines > 0 and not found.startswith("\\"))
        elif kind != TokenKind.COMMENT:
            fresh = False
        line, position = line + newlines, match.end()
