"""Tokens of brace languages, precise enough to tell code from comments and strings.

Text is read as Latin-1, so every byte is one character and no file is refused for its encoding.

Which lexical family a file belongs to, told from its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath


class Language(StrEnum):
    """Lexical families: how comments, strings, statements and blocks are written."""

    C = "c"  # C and C++: preprocessor, semicolons
    JAVA = "java"  # semicolons, no preprocessor
    SCRIPT = "script"  # braces, but a statement may end with its line: JavaScript, Go, Swift, …
    RUST = "rust"  # semicolons; 'a is a lifetime
    PYTHON = "python"
    OTHER = "other"  # lines are all that is known

    @property
    def braced(self) -> bool:
        """Whether blocks are written with braces."""
        return self not in {Language.PYTHON, Language.OTHER}


_SUFFIXES = {
    Language.C: "c h cc cpp cxx c++ hh hpp hxx h++ inl ipp tcc tpp inc m mm cu cuh",
    Language.JAVA: "java cs php dart d proto glsl css scss less",
    Language.SCRIPT: "js jsx mjs cjs ts tsx mts cts go swift kt kts scala groovy",
    Language.RUST: "rs",
    Language.PYTHON: "py pyi pyw",
}
_BY_SUFFIX = {
    f".{suffix}": language
    for language, suffixes in _SUFFIXES.items()
    for suffix in suffixes.split()
}


def language_of(path: str) -> Language:
    """The family of a file by its suffix; OTHER when nothing better is known."""
    return _BY_SUFFIX.get(PurePosixPath(path).suffix.lower(), Language.OTHER)


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
COMMENT = rf"//(?:{_SPLICE}|[^\n])*|/\*.*?(?:\*/|\Z)"
STRING = r'(?:u8|[uUL])?"(?:\\\r?\n|\\.|[^"\\\n])*"?'
QUOTED = rf"(?:u8|[uUL])?'(?:{_SPLICE}|\\.|[^'\\\n])*'?"
_RUST_CHARACTER = r"b?'(?:\\[^\n']+|\\'|[^\\'\n])'"
_RAW = r"`[^`]*`?"
_PUNCTUATION = (
    r"<<=|>>=|\.\.\.|->\*|<=>|===|!==|=>|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|##|."
)
_KINDS = {kind.value: kind for kind in TokenKind}
DIRECTIVE = rf"#(?:{_SPLICE}|{COMMENT}|{STRING}|[^\n])*"
CONDITIONAL = re.compile(r"#\s*(ifdef|ifndef|if|elifdef|elifndef|elif|else|endif)\b")
_DIRECTIVE = re.compile(DIRECTIVE, re.DOTALL)


def _scanner(*quotes: str) -> re.Pattern[str]:
    groups = {
        "space": rf"[\s]+|{_SPLICE}",
        "comment": COMMENT,
        "string": "|".join((STRING, *quotes)),
        "word": r"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*",
        "number": r"\.?\d(?:[eEpP][+-]|[\w.]|'\w)*",
        "punctuation": _PUNCTUATION,
    }
    pattern = "|".join(f"(?P<{name}>{expression})" for name, expression in groups.items())
    return re.compile(pattern, re.DOTALL | re.ASCII)


_SCANNERS = {
    Language.C: _scanner(QUOTED),
    Language.JAVA: _scanner(QUOTED),
    Language.SCRIPT: _scanner(QUOTED, _RAW),
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
