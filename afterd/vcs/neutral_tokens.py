"""Hunks of C, C++ and Java that leave the token stream of their file as it is.

Outside parentheses white space only separates tokens. Inside them a macro may turn its argument
into a string, in which any white space is one space: there, its presence counts. A preprocessor
line counts with its end. Text is compared hunk by hunk: the lexer must be in the same state at both
ends of the hunk in both versions, so neutral hunks are neutral in any company.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from afterd.model.change import Change, ChangeId
from afterd.model.location import LineSpan
from afterd.vcs.hunks import split_lines
from afterd.vcs.languages import Language
from afterd.vcs.tokens import Token, TokenKind, tokens

WHITE_SPACE = "only white space differs"
COMMENTS = "only comments differ"
_SUFFIXES = frozenset(
    {
        *(".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".h++", ".java"),
        *(".inl", ".ipp", ".tcc", ".tpp", ".m", ".mm", ".cu", ".cuh"),
    }
)
# Raw strings, trigraphs, Java's text blocks and Unicode escapes: the tokens are not what they seem.
_BEYOND_US = re.compile(rb'R"|\?\?/|"""|\\u')
# A line number that the program can show. One hidden in a header's macro is not seen here.
_LINE_NUMBERS = re.compile(rb"\b(__LINE__|_?assert\w*|ASSERT\w*|CHECK\w*)\b")


def can_compare_tokens(file: str) -> bool:
    """Whether a file, by its name, is in a language whose tokens are known well enough."""
    return PurePosixPath(file).suffix.lower() in _SUFFIXES


def neutral_tokens(
    good: bytes, bad: bytes, hunks: Sequence[Change], language: Language
) -> Iterator[tuple[ChangeId, str]]:
    """The hunks whose two sides are the same tokens, each with the reason."""
    if _BEYOND_US.search(good) or _BEYOND_US.search(bad):
        return
    before, after = _Tokens(good, language), _Tokens(bad, language)
    if not (before.sound and after.sound):
        return
    visible = bool(_LINE_NUMBERS.search(bad) or _LINE_NUMBERS.search(good))
    for hunk in hunks:
        if visible and hunk.old.count != hunk.new.count:
            continue
        one, other = before.region(hunk.old), after.region(hunk.new)
        if one is not None and other is not None and one.code == other.code:
            yield hunk.id, COMMENTS if one.differs_in_comments(other) else WHITE_SPACE


@dataclass(frozen=True, slots=True)
class _Region:
    """The lines of a hunk: ``code`` with the lexer's state before and after, and the comments."""

    code: tuple[object, ...]
    comments: tuple[str, ...]

    def differs_in_comments(self, other: _Region) -> bool:
        """Whether the comments are others, or the lines lie inside one."""
        return self.comments != other.comments or TokenKind.COMMENT in self.code[:2]


class _Tokens:
    """The tokens of a file by the line they start on, and the lexer's state after each line."""

    def __init__(self, content: bytes, language: Language) -> None:
        self._lines = split_lines(content)
        self._code: dict[int, list[object]] = defaultdict(list)
        self._comments: dict[int, list[str]] = defaultdict(list)
        self._inside: dict[int, TokenKind] = {}  # lines that end inside a token
        self._parentheses: dict[int, int] = {}  # by the line of the last token that changed it
        self.sound = True
        depth = 0
        for token in tokens(content.decode("latin-1"), language):
            self._inside.update(dict.fromkeys(range(token.line, token.end_line), token.kind))
            comments = self._comments[token.line]
            if token.kind is TokenKind.COMMENT:
                comments.append(_plain(token))
                continue
            if token.kind is TokenKind.DIRECTIVE:
                inner = list(tokens(token.text.replace("#", " ", 1), language))
                comments += map(_plain, filter(_is_comment, inner))
                words = tuple((word.text, word.spaced) for word in inner if not _is_comment(word))
                self._code[token.line].append(("#", words))
            else:
                self._code[token.line].append((token.text, depth > 0 and token.spaced))
            self.sound = self.sound and _is_closed(token)
            depth = max(0, depth + (token.text == "(") - (token.text == ")"))
            self._parentheses[token.line] = depth
        self._depths = self._filled()

    def _filled(self) -> list[int]:
        depths = [0]
        for line in range(1, len(self._lines) + 1):
            depths.append(self._parentheses.get(line, depths[-1]))
        return depths

    def region(self, span: LineSpan) -> _Region | None:
        """What the lines of ``span`` hold; None where a token or a line is cut by its ends."""
        first = span.start - 1 if span.count else span.start
        last = first + span.count
        states = [self._inside.get(gap) for gap in (first, last)]
        whole = {None, TokenKind.COMMENT}
        spliced = any(
            line.rstrip().endswith(b"\\") for line in self._lines[max(0, first - 1) : last]
        )
        if spliced or not whole.issuperset(states):
            return None
        numbers = range(first + 1, last + 1)
        code = [item for line in numbers for item in self._code.get(line, ())]
        comments = [text for line in numbers for text in self._comments.get(line, ())]
        return _Region((*states, self._depths[first], *code), tuple(comments))


def _is_comment(token: Token) -> bool:
    return token.kind is TokenKind.COMMENT


def _plain(token: Token) -> str:
    """A comment without the way it is laid out."""
    return " ".join(token.text.split())


def _is_closed(token: Token) -> bool:
    """Whether a string or character ends before its line does."""
    if token.kind is not TokenKind.STRING:
        return True
    body = token.text.lstrip("uUL8")
    return len(body) > 1 and body[-1] == body[0]
