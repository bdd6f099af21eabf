"""Which lines of a table's text gave one part of it: a row, a field of a row, an entry of a macro that lists all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import PurePosixPath

from afterd.limits import C_PAIR
from afterd.trace.c.build.source import Sources
from afterd.trace.c.ir.metadata import Part
from afterd.vcs.tokens import Language, Token, TokenKind, tokens

_INCLUDE = re.compile(r'#\s*include\s*"([^"]+)"')
_OPEN, _CLOSE = frozenset("{(["), frozenset("})]")


@dataclass(frozen=True, slots=True)
class Rows:
    """Lines of a file that hold a table, or a part of one."""

    file: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Table:
    """A variable's declaration with its initialiser, and the part that was asked for, where the text tells."""

    whole: Rows
    part: Rows | None = None


@dataclass(frozen=True, slots=True)
class _Given:
    """What stands between the commas of an initialiser; ``is_counted``: it is an element each."""

    elements: tuple[list[Token], ...]
    is_counted: bool
    is_designated: bool


Numbers = Callable[[str], int | None]
"""The value of a constant by its name."""


class Tables:
    """The tables of one version."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._declared = cache(self._declared_uncached)

    def table(self, variable: str, start: Rows, path: Sequence[Part], numbers: Numbers) -> Table:
        """The table of a variable that is declared at a line, and the lines of what a path leads to in it."""
        given, last = self._declared(variable, start.file, start.first)
        whole = Rows(start.file, start.first, last)
        part = None
        for step in path:
            if given is None:
                break
            body = _element(given, step, numbers)
            if body is None:
                part = self._listed(start.file, given.elements, step) or part
                break
            part = Rows(start.file, body[0].line, body[-1].end_line)
            given = _given(body)
        return Table(whole, part)

    def _declared_uncached(self, variable: str, file: str, line: int) -> tuple[_Given | None, int]:
        """What the initialiser gives, and the last line of the declaration."""
        found = self._code(file, line, line + C_PAIR.table)
        first = self._code(file, line, line)
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
            depth += (token.text in _OPEN) - (token.text in _CLOSE)
            if depth < (0 if begun else -1) or (depth <= 0 and token.text in {";", ","}):
                return _given(body), token.line
            end = token.end_line
            if begun and (body or token.text != "="):
                body.append(token)
        return None, line if not body else end

    def _listed(self, file: str, given: Sequence[list[Token]], step: Part) -> Rows | None:
        """The entry of a list that is a macro (``COLOURS(ROW)``) or another file (``#include "rows.def"``)."""
        code = [token for one in given for token in one]
        named = [found[1] for token in code if (found := _INCLUDE.match(token.text))]
        if len(named) == 1:
            other = self._included(file, named[0])
            entries = list(_entries(self._code(other, 1, C_PAIR.table))) if other else []
            return _entry(other, entries, step) or (Rows(other, 1, C_PAIR.table) if other else None)
        if len(given) == 1 and code[0].kind is TokenKind.WORD and code[-1].text == ")":
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


def _read(text: str, line: int) -> Iterator[Token]:
    """The tokens of a text that begins on a line, without comments."""
    for token in tokens(text, Language.C):
        if token.kind is not TokenKind.COMMENT:
            first, last = token.line + line - 1, token.end_line + line - 1
            yield Token(token.kind, token.text, first, last, token.spaced)


def _elements(code: Sequence[Token]) -> Iterator[list[Token]]:
    """What stands between the commas of an initialiser."""
    depth, element = 0, list[Token]()
    for token in code:
        depth += (token.text in _OPEN) - (token.text in _CLOSE)
        if token.text == "," and not depth:
            yield element
            element = []
        else:
            element.append(token)
    if element:
        yield element


def _given(body: Sequence[Token]) -> _Given | None:
    """What an initialiser in braces gives; None where it has none."""
    if not body or body[0].text != "{":
        return None
    elements = tuple(_elements(body[1:-1]))
    is_counted = all(elements) and not any(map(_is_list, elements))
    return _Given(elements, is_counted, any(map(_designator, elements)))


def _element(given: _Given, step: Part, numbers: Numbers) -> list[Token] | None:
    """The element that a step leads to; None where the text does not tell which."""
    if 0 <= step.of < len(given.elements) or not given.is_counted:
        return None
    if not given.is_designated:
        return given.elements[step.number] if step.number < len(given.elements) else None
    position, found = 0, None
    for element in given.elements:
        designator = _designator(element)
        span = range(position, position + 1)
        if designator and designator[0].text == ".":
            span = range(step.number, step.number + (designator[1].text == step.name))
        elif designator:
            ends = [_number(one, numbers) for one in _bounds(designator)]
            told = [end for end in ends if end is not None]
            if len(told) < len(ends):
                return None
            span = range(told[0], told[-1] + 1)
        if step.number in span:
            found = element[len(designator) :]
            found = found[1:] if found and found[0].text == "=" else found
        position = span.stop
    return found or None


def _is_list(element: Sequence[Token]) -> bool:
    """Whether an element may be several: a directive is in it, or a macro's call stands behind another one."""
    depth, before = 0, ""
    for token in element:
        if token.kind is TokenKind.DIRECTIVE:
            return True
        if not depth and before == ")" and token.kind is TokenKind.WORD:
            return True
        depth += (token.text in _OPEN) - (token.text in _CLOSE)
        before = token.text
    return False


def _designator(element: Sequence[Token]) -> Sequence[Token]:
    """The first designator of an element: ``[…]`` or ``.name``; nothing where it has none."""
    if element and element[0].text == ".":
        return element[:2]
    if element and element[0].text == "[":
        end = next((at for at, token in enumerate(element) if token.text == "]"), -1)
        return element[: end + 1]
    return ()


def _bounds(designator: Sequence[Token]) -> list[Sequence[Token]]:
    """The constants of ``[a]``, or of ``[a ... b]``."""
    inner = designator[1:-1]
    at = next((at for at, token in enumerate(inner) if token.text == "..."), None)
    return [inner] if at is None else [inner[:at], inner[at + 1 :]]


def _number(code: Sequence[Token], numbers: Numbers) -> int | None:
    """The value of a constant that is a single word."""
    if len(code) != 1:
        return None
    text = code[0].text
    if code[0].kind is TokenKind.STRING:
        return ord(text[1]) if len(text) == 3 else None
    if code[0].kind is TokenKind.NUMBER:
        plain = text.rstrip("uUlL")
        octal = plain.startswith("0") and plain.isdigit()
        return (
            int(plain, 8 if octal else 0) if re.fullmatch(r"0[xX][\da-fA-F]+|\d+", plain) else None
        )
    return numbers(text)


def _entries(code: Iterator[Token]) -> Iterator[list[Token]]:
    """The bracketed groups of a list that is not divided by anything else, each with the macro's name before it."""
    depth, entry = 0, list[Token]()
    for token in code:
        if token.kind is TokenKind.DIRECTIVE:
            continue
        opens = token.text in _OPEN
        if not depth and not opens:
            entry = [token]
            continue
        depth += opens - (token.text in _CLOSE)
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
