"""Which lines of a table's text gave one part of it: a row, a field of a row, an entry of a macro that lists all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import PurePosixPath

from afterd.limits import C_PAIR
from afterd.trace.c.build.elements import CLOSE, OPEN, Given, Numbers, led_to
from afterd.trace.c.build.preprocessed import Preprocessed
from afterd.trace.c.build.source import Sources
from afterd.trace.c.ir.metadata import Part
from afterd.vcs.tokens import Language, Token, TokenKind, tokens

_INCLUDE = re.compile(r'#\s*include\s*"([^"]+)"')


@dataclass(frozen=True, slots=True)
class Rows:
    """Lines of a file that hold a table, or a part of one."""

    file: str
    first: int
    last: int


class Tables:
    """The tables of one version."""

    def __init__(self, sources: Sources, preprocessed: Preprocessed) -> None:
        self._sources = sources
        self._preprocessed = preprocessed
        self._declared = cache(self._declared_uncached)
        self._compiled = cache(self._compiled_uncached)

    def whole(self, variable: str, start: Rows) -> Rows:
        """The declaration of a variable, which begins at a line."""
        _, last = self._declared(variable, start.file, start.first)
        return Rows(start.file, start.first, last)

    def part(
        self, variable: str, start: Rows, path: Sequence[Part], numbers: Numbers, source: str
    ) -> Rows | None:
        """The lines of what a path leads to in a variable, as ``source`` was compiled; None where nothing tells."""
        body, _ = self._declared(variable, start.file, start.first)
        led = led_to(body, path, numbers)
        told = Rows(start.file, led.code[0].line, led.code[-1].end_line) if led.code else None
        if led.is_sure:
            return told
        listed = self._listed(start.file, *led.within) if led.within else None
        return listed or self._as_compiled(variable, start, path, numbers, source) or told

    def _as_compiled(
        self, variable: str, start: Rows, path: Sequence[Part], numbers: Numbers, source: str
    ) -> Rows | None:
        """The same of what the preprocessor makes of the text."""
        listing = self._preprocessed.listing(source)
        if listing is None:
            return None
        body = self._compiled(variable, start.file, start.first, source)

        def number(name: str) -> int | None:
            known = numbers(name)
            return listing.enumerators.get(name) if known is None else known

        code = led_to(body, path, number).code
        if not code:
            return None
        (file, first), (other, last) = (
            listing.places[line - 1] for line in (code[0].line, code[-1].end_line)
        )
        return Rows(file, first, self._closed(file, first, last)) if file == other else None

    def _closed(self, file: str, first: int, last: int) -> int:
        """The line at which the brackets end that were opened on some: of a macro's call that goes over several, all
        is told as if it stood on the first.
        """
        depth, end = 0, last
        for token in self._code(file, first, first + C_PAIR.table):
            if token.line > last and not depth:
                break
            depth += (token.text in OPEN) - (token.text in CLOSE)
            end = max(end, token.end_line)
            if depth < 0:
                break
        return end if not depth else last

    def _compiled_uncached(
        self, variable: str, file: str, line: int, source: str
    ) -> Sequence[Token]:
        """What a variable is given in a preprocessed source, by that text's lines."""
        listing = self._preprocessed.listing(source)
        begin = listing.first.get((file, line)) if listing else None
        if listing is None or begin is None:
            return ()
        end = begin
        while end < len(listing.places) and listing.places[end] == listing.places[begin]:
            end += 1
        text = "\n".join(listing.lines[begin : begin + C_PAIR.table])
        first = "\n".join(listing.lines[begin:end])
        body, _ = _initialiser(variable, _read(first, begin + 1), _read(text, begin + 1), begin + 1)
        return body

    def _declared_uncached(
        self, variable: str, file: str, line: int
    ) -> tuple[Sequence[Token], int]:
        """What a variable is given, and the last line of its declaration."""
        first, found = self._code(file, line, line), self._code(file, line, line + C_PAIR.table)
        return _initialiser(variable, first, found, line)

    def _listed(self, file: str, given: Given, step: Part) -> Rows | None:
        """The entry of a list that is a macro (``COLOURS(ROW)``) or another file (``#include "rows.def"``)."""
        code = [token for one in given.elements for token in one]
        named = [found[1] for token in code if (found := _INCLUDE.match(token.text))]
        if len(named) == 1:
            other = self._included(file, named[0])
            entries = list(_entries(self._code(other, 1, C_PAIR.table))) if other else []
            return _entry(other, entries, step) or (Rows(other, 1, C_PAIR.table) if other else None)
        if len(given.elements) == 1 and code[0].kind is TokenKind.WORD and code[-1].text == ")":
            return self._of_macro(file, code[0].text, step)
        return None

    def _of_macro(self, file: str, name: str, step: Part) -> Rows | None:
        """The entry of a macro that the file, or one that it includes, defines as a list of its parameter's calls."""
        definition = re.compile(
            rf"\s*#\s*define\s+{re.escape(name)}\s*\(\s*(\w+)\s*\)(.*)", re.DOTALL
        )
        for place in (file, *self._all_included(file)):
            lines = self._sources.lines(place)
            for at, text in enumerate(lines):
                if name not in text or not (found := definition.match(text)):
                    continue
                last = at
                while lines[last].rstrip().endswith("\\") and last + 1 < len(lines):
                    last += 1
                body = "\n".join(("\\", *lines[at + 1 : last + 1])) if last > at else ""
                listed = list(_entries(_read(found[2].rstrip("\\") + body, at + 1)))
                return _entry(place, [one for one in listed if one[0].text == found[1]], step)
        return None

    def _all_included(self, file: str) -> Iterator[str]:
        """The project's files that a file includes, itself or through others."""
        seen, waiting = {file}, [file]
        while waiting:
            one = waiting.pop()
            for text in self._sources.lines(one):
                found = _INCLUDE.match(text.strip())
                other = self._included(one, found[1]) if found else ""
                if other and other not in seen:
                    seen.add(other)
                    waiting.append(other)
                    yield other

    def _included(self, file: str, name: str) -> str:
        """The file that is included by a name; empty where it is not beside the file, nor named from the root."""
        beside = str(PurePosixPath(file).parent / name)
        return next((path for path in (beside, name) if self._sources.lines(path)), "")

    def _code(self, file: str, first: int, last: int) -> Iterator[Token]:
        return _read("\n".join(self._sources.lines(file)[first - 1 : last]), first)


def _initialiser(
    variable: str, first: Iterable[Token], found: Iterator[Token], line: int
) -> tuple[Sequence[Token], int]:
    """What a variable is given that is declared at a line (``first``), and the last line of the declaration."""
    names = [
        at
        for at, (token, following) in enumerate(pairwise(first))
        if token.text == variable and following.text in {"[", "=", "{"}
    ]
    for _ in range(names[-1] + 1 if names else 0):
        next(found)
    depth, body, end = 0, list[Token](), line
    begun = False
    for token in found:
        begun = begun or (depth == 0 and token.text in {"=", "{"})
        depth += (token.text in OPEN) - (token.text in CLOSE)
        if depth < (0 if begun else -1) or (depth <= 0 and token.text in {";", ","}):
            return body, token.line
        end = token.end_line
        if begun and (body or token.text != "="):
            body.append(token)
    return (), line if not body else end


def _read(text: str, line: int) -> Iterator[Token]:
    """The tokens of a text that begins on a line, without comments."""
    for token in tokens(text, Language.C):
        if token.kind is not TokenKind.COMMENT:
            first, last = token.line + line - 1, token.end_line + line - 1
            yield Token(token.kind, token.text, first, last, token.spaced)


def _entries(code: Iterator[Token]) -> Iterator[list[Token]]:
    """The bracketed groups of a list that is not divided by anything else, each with the macro's name before it."""
    depth, entry = 0, list[Token]()
    for token in code:
        if token.kind is TokenKind.DIRECTIVE:
            continue
        opens = token.text in OPEN
        if not depth and not opens:
            entry = [token]
            continue
        depth += opens - (token.text in CLOSE)
        entry.append(token)
        if not depth:
            yield entry
            entry = []


def _entry(file: str, entries: Sequence[list[Token]], step: Part) -> Rows | None:
    """The entry of a list in which there are as many as the table has."""
    if step.of not in {-1, len(entries)} or step.number >= len(entries):
        return None
    entry = entries[step.number]
    return Rows(file, entry[0].line, entry[-1].end_line)
