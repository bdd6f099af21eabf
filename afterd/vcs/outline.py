"""The top-level pieces of a file in C: functions, declarations, tables, with what stands before each.

One pass over comments, texts, brackets and directives finds them. What is asked of a few lines of a
large file (which statements, which function, which tokens) is answered from the pieces around them:
reading every token of SQLite's 260,000 lines for each question took half a minute.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar, overload

from afterd.vcs.tokens import COMMENT, CONDITIONAL, DIRECTIVE, QUOTED, STRING

T = TypeVar("T")
CLOSING = {"(": ")", "[": "]", "{": "}"}
_EVENT = re.compile(
    rf"(?<![uU])[0-9a-fA-F]'(?=[0-9a-fA-F])|{COMMENT}|(?P<text>{STRING}|{QUOTED})"
    rf"|^[^\S\n]*(?P<directive>{DIRECTIVE})|(?P<sign>[][(){{}};])",
    re.DOTALL | re.MULTILINE,
)
_LINKAGE = re.compile(r'extern\s*"C(?:\+\+)?"\s*\Z')
_REST_OF_LINE = re.compile(r"[^\S\n]*(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines ``first`` to ``last``; before them no statement is under way, ``opened`` braces of ``extern "C"`` are open,
    and ``#if``s before which so many of these were: ``conditionals``.
    """

    first: int
    last: int
    conditionals: tuple[int, ...] = ()
    opened: int = 0


class Outline:
    """The pieces of a text, and whether every string and character in it ends in its line."""

    def __init__(self, text: str) -> None:
        self.sound = True
        self._pieces: list[Piece] = []
        self._read(text)
        self._ends = [piece.last for piece in self._pieces]

    def around(self, first: int, last: int) -> Piece:
        """The whole pieces that lines ``first`` to ``last`` are in, as one."""
        start, end = (
            self._pieces[min(bisect_left(self._ends, line), len(self._ends) - 1)]
            for line in (first, max(first, last))
        )
        return Piece(start.first, end.last, start.conditionals, start.opened)

    def _read(self, text: str) -> None:
        opened, conditionals, outer = list[str](), list[list[str]](), 0
        before, line, counted = Piece(1, 1), 1, 0  # ``counted``: up to where ``line`` was counted
        for event in _EVENT.finditer(text):
            kind = event.lastgroup
            if kind == "text":
                said = event[0].lstrip("uUL8")
                self.sound = self.sound and len(said) > 1 and said[-1] == said[0]
            elif kind == "directive":
                opened = _follow(event[kind], opened, conditionals)
                outer = min(outer, len(opened))
            elif kind == "sign":
                sign = event[0]
                if sign in CLOSING:
                    linkage = sign == "{" and len(opened) == outer
                    if linkage and _LINKAGE.search(text, max(0, event.start() - 40), event.start()):
                        outer += 1
                    opened.append(sign)
                elif sign != ";" and opened and sign == CLOSING[opened[-1]]:
                    opened.pop()
                    outer = min(outer, len(opened))
                base = len(opened) == outer and sign in ";}"
                if base and all(len(each) <= outer for each in conditionals):
                    rest = _REST_OF_LINE.match(text, event.end())
                    if rest is not None:
                        line += text.count("\n", counted, event.end())
                        counted = event.end()
                        self._pieces.append(
                            Piece(before.first, line, before.conditionals, before.opened)
                        )
                        before = Piece(line + 1, line + 1, tuple(map(len, conditionals)), outer)
        last = line + text.count("\n", counted)
        self._pieces.append(
            Piece(before.first, max(last, before.first), before.conditionals, before.opened)
        )


@lru_cache(maxsize=2)
def outline(content: bytes) -> Outline:
    """The pieces of a file's content; of the last two files (both sides of a change) found once."""
    return Outline(content.decode("latin-1"))


def _follow(directive: str, opened: list[str], conditionals: list[list[str]]) -> list[str]:
    """What is open after a directive: both sides of an ``#else`` start from the ``#if``."""
    match = CONDITIONAL.match(directive)
    if match is None:
        return opened
    if match[1].startswith("if"):
        conditionals.append(list(opened))
    elif conditionals:
        before = conditionals[-1]
        if match[1] == "endif":
            conditionals.pop()
        else:
            return list(before)
    return opened


class ByPiece(Sequence[T], Generic[T]):
    """Something of every gap between lines, found out a piece at a time when it is asked for.

    ``of`` gives it for a piece's gaps: the one before its first line, and those after each line.
    """

    def __init__(self, outline: Outline, gaps: int, of: Callable[[Piece], Sequence[T]]) -> None:
        self._outline = outline
        self._gaps = gaps
        self._of = of
        self._known: dict[int, Sequence[T]] = {}

    def __len__(self) -> int:
        return self._gaps

    @overload
    def __getitem__(self, gap: int) -> T: ...
    @overload
    def __getitem__(self, gap: slice) -> Sequence[T]: ...
    def __getitem__(self, gap: int | slice) -> T | Sequence[T]:
        if isinstance(gap, slice):
            return [self[each] for each in range(*gap.indices(self._gaps))]
        if not 0 <= gap < self._gaps:
            raise IndexError(gap)
        piece = self._outline.around(gap, gap)
        if piece.first not in self._known:
            self._known[piece.first] = self._of(piece)
        return self._known[piece.first][gap - piece.first + 1]
