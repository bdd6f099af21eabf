"""What an initialiser's text gives to each part of a variable: by its braces, commas and designators."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from afterd.trace.c.ir.metadata import Part
from afterd.vcs.tokens import Token, TokenKind

_INTEGER = re.compile(r"0[xX][\da-fA-F]+|\d+")
OPEN, CLOSE = frozenset("{(["), frozenset("})]")

Numbers = Callable[[str], int | None]
"""The value of a constant by its name."""


@dataclass(frozen=True, slots=True)
class Given:
    """What stands between the commas of an initialiser; ``is_counted``: it is an element each."""

    elements: tuple[list[Token], ...]
    is_counted: bool
    is_designated: bool


@dataclass(frozen=True, slots=True)
class Led:
    """Where a path led to in an initialiser: the text of the innermost part that it tells, if any. ``is_counted``:
    there are as many elements everywhere as the type has, and none that a macro may make. ``within`` is what the text
    does not tell the next step in.
    """

    code: Sequence[Token] = ()
    is_counted: bool = True
    within: tuple[Given, Part] | None = None

    @property
    def is_sure(self) -> bool:
        """Whether the text tells all that was asked, or no more than a line is left to tell."""
        is_line = bool(self.code) and self.code[0].line == self.code[-1].end_line
        return self.is_counted and (self.within is None or is_line)


def led_to(body: Sequence[Token], path: Sequence[Part], numbers: Numbers) -> Led:
    """What a path leads to in what a variable is given."""
    code, given, is_counted, at = body[:0], given_in(body), True, 0
    while at < len(path) and given is not None:
        step = path[at]
        if _has_no_braces_for(given, path[at:]):
            at += 1
            continue
        flat = _flattened(given, path[at:])
        found = _element(given, flat or step, numbers)
        if found is None:
            return Led(code, is_counted, (given, step))
        code, at = found, len(path) if flat else at + 1
        is_counted = is_counted and _has_all(given, flat or step)
        given = given_in(code)
    return Led(code, is_counted)


def _has_all(given: Given, step: Part) -> bool:
    """Whether there are as many elements as the type has: what looks like a call may be a macro that makes several, or
    says with a designator which one it makes.
    """
    if any(map(_is_call, given.elements)):
        return False
    return given.is_designated or step.of in {-1, len(given.elements)}


def _is_call(element: Sequence[Token]) -> bool:
    return len(element) > 1 and element[0].kind is TokenKind.WORD and element[1].text == "("


def _has_no_braces_for(given: Given, path: Sequence[Part]) -> bool:
    """Whether the braces are left out around what is the only member or element: ``std::array<int, 2> a{1, 2}``."""
    if path[0].of != 1 or len(path) == 1 or given.is_designated or not given.elements:
        return False
    return len(given.elements) > 1 or _is_plain(given.elements[0])


def _flattened(given: Given, path: Sequence[Part]) -> Part | None:
    """The element that a path leads to where no inner array has braces: ``int t[2][2] = {1, 2, 3, 4}``."""
    arrays = list(takewhile(lambda part: not part.name and part.of > 0, path[1:]))
    if not arrays or len(arrays) < len(path) - 1 or not all(map(_is_plain, given.elements)):
        return None
    number, of = path[0].number, path[0].of
    for inner in arrays:
        number, of = number * inner.of + inner.number, of * inner.of if of > 0 else -1
    return Part(number, of=of)


def _is_plain(element: Sequence[Token]) -> bool:
    """Whether an element is one number or pointer: it has no braces, no designator, is no text and calls nothing."""
    return bool(element) and not any(
        token.text in {"{", "[", "("} or '"' in token.text for token in element
    )


def _elements(code: Sequence[Token]) -> Iterator[list[Token]]:
    """What stands between the commas of an initialiser."""
    depth, element = 0, list[Token]()
    for token in code:
        depth += (token.text in OPEN) - (token.text in CLOSE)
        if token.text == "," and not depth:
            yield element
            element = []
        else:
            element.append(token)
    if element:
        yield element


def given_in(body: Sequence[Token]) -> Given | None:
    """What an initialiser in braces gives; None where it has none."""
    if not body or body[0].text != "{":
        return None
    elements = tuple(_elements(body[1:-1]))
    is_counted = all(elements) and not any(map(_is_list, elements))
    return Given(elements, is_counted, any(map(_designator, elements)))


def _element(given: Given, step: Part, numbers: Numbers) -> list[Token] | None:
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
        depth += (token.text in OPEN) - (token.text in CLOSE)
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
        return integer_of(text.rstrip("uUlL"))
    return numbers(text)


def integer_of(digits: str) -> int | None:
    """What an integer of C is, written without its type; None of another number."""
    if not _INTEGER.fullmatch(digits):
        return None
    octal = digits.startswith("0") and digits.isdigit()
    return int(digits, 8 if octal else 0)
