"""Tests that stand in a source file beside what they test: the usual place for them in Rust.

They belong to the failing test as a test file does: kept as in the bad version, or there is no test to
run in the good one.
"""

from __future__ import annotations

import re

from afterd.model.location import LineSpan
from afterd.vcs.tokens import Language, Token, TokenKind, tokens

_MARKED = re.compile(
    r"#\[(?:cfg\((?:all\()?(?:[\w=\"]+,)*test\b|(?:\w+::)*(?:test|bench|rstest|test_case|proptest)[\](])"
)


def spans_of_tests(content: bytes, language: Language) -> tuple[LineSpan, ...]:
    """The lines of a file's test modules, test functions and what is compiled for tests alone, with
    their attributes; () in languages that keep tests in files of their own.
    """
    if language is not Language.RUST or b"test" not in content:
        return ()
    spans: list[LineSpan] = []
    blocks: list[int] = []  # the first line of each open block of tests; 0: it is none
    header: list[Token] = []
    parentheses = 0
    for token in tokens(content.decode("latin-1"), language):
        if token.kind is TokenKind.COMMENT:
            continue
        parentheses += (token.text in "([") - (token.text in ")]")
        if token.text == "{":
            blocks.append(_first_line(header))
        elif token.text == "}" and blocks:
            if first := blocks.pop():
                spans.append(LineSpan(first, token.end_line - first + 1))
        elif token.text == ";" and parentheses <= 0:
            if first := _first_line(header):
                spans.append(LineSpan(first, token.end_line - first + 1))
        else:
            header.append(token)
            continue
        header, parentheses = [], 0
    return tuple(spans)


def _first_line(header: list[Token]) -> int:
    """Where an item that is marked as a test begins; 0 for any other."""
    marked = _MARKED.search("".join(token.text for token in header))
    return header[0].line if marked else 0
