"""What the C library reads out of text: numbers as ``strtol`` and ``strtod`` do, formats as ``scanf`` does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from afterd.model.term import Sort, SortKind
from afterd.symbolic.refusal import NotFollowedError

_SPACES = b" \t\n\v\f\r"
_INTEGER = re.compile(rb"[ \t\n\v\f\r]*([-+]?)(0[xX](?=[0-9a-fA-F]))?([0-9a-zA-Z]*)")
_REAL = re.compile(
    rb"[ \t\n\v\f\r]*([-+]?(?:0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][-+]?\d+)?"
    rb"|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|(?i:infinity|inf|nan)))"
)
_DIRECTIVE = re.compile(
    r"\s+|%(?P<skip>\*)?(?P<width>\d+)?(?P<size>hh|h|ll|l|L|q|j|z|t)?"
    r"(?P<letter>\[\^?\]?[^\]]*\]|[diouxXeEfFgGaAscn%])|(?P<plain>[^%\s])"
)
_BASES = {"d": 10, "u": 10, "i": 0, "o": 8, "x": 16, "X": 16}
_REALS = "eEfFgGaA"
_SIZES = {"hh": 1, "h": 2, None: 4}


@dataclass(frozen=True, slots=True)
class Scanned:
    """One value that was assigned: an integer, a float, or bytes; ``size`` in memory; where it began."""

    value: int | float | bytes
    size: int
    start: int


def integer(text: bytes, base: int, bits: int = 64) -> tuple[int, int]:
    """The value that ``strtol`` gives, and how many bytes of the text it took."""
    found = _INTEGER.match(text)
    assert found is not None
    sign, prefix, digits = found.groups()
    if prefix and base not in {0, 16}:
        return 0, found.start(2) + 1  # the zero of 0x is a number
    used = base or (16 if prefix else 8 if digits.startswith(b"0") else 10)
    taken = next(
        (at for at, digit in enumerate(digits) if int(chr(digit), 36) >= used), len(digits)
    )
    if not taken:
        return 0, 0
    value = int(digits[:taken], used) * (-1 if sign == b"-" else 1)
    limit = 1 << bits - 1
    return max(-limit, min(limit - 1, value)), found.start(3) + taken


def parsed_real(text: bytes) -> tuple[float, int]:
    """The value that ``strtod`` gives, and how many bytes of the text it took."""
    found = _REAL.match(text)
    if found is None:
        return 0.0, 0
    word = found.group(1).decode("ascii").lower()
    return (float.fromhex(word) if "0x" in word else float(word)), found.end()


def scanned_values(form: str, text: bytes, at: int = 0) -> tuple[list[Scanned], int, int]:
    """What ``scanf`` assigns, what it returns, and where in the text it ends.

    Raises NotFollowedError for a long double.
    """
    begin, found, assigned = at, list[Scanned](), 0
    for directive in _directives(form):
        letter, size = directive["letter"], directive["size"]
        if directive["plain"] is None and letter is None:
            at = _after_spaces(text, at)
            continue
        if letter == "n":
            found.append(Scanned(at - begin, _SIZES.get(size, 8), begin))
            continue
        if letter is not None and letter[0] not in "c[":
            at = _after_spaces(text, at)
        plain = "%" if letter == "%" else directive["plain"]
        if at >= len(text):
            return found, assigned or -1, at
        if plain is not None:
            if text[at : at + 1] != plain.encode("latin-1"):
                break
            at += 1
            continue
        assert letter is not None
        width = int(directive["width"] or (1 if letter == "c" else len(text)))
        value, taken = _converted_field(letter, text[at : at + width])
        if not taken or (letter == "c" and taken < width):
            return (found, assigned, at) if taken or at < len(text) else (found, assigned or -1, at)
        if not directive["skip"]:
            found.append(Scanned(value, _bytes(letter, size), at))
            assigned += 1
        at += taken
    return found, assigned, at


def destinations(form: str) -> list[Sort | None]:
    """What the arguments behind a format point to, if all of it is assigned: None is text.

    Raises NotFollowedError for a long double.
    """
    found = list[Sort | None]()
    for directive in _directives(form):
        letter = directive["letter"]
        if letter is None or letter == "%" or directive["skip"]:
            continue
        kind = SortKind.FLOAT if letter in _REALS else SortKind.BITVEC
        text = letter[0] in "[cs"
        found.append(None if text else Sort(kind, 8 * _bytes(letter, directive["size"])))
    return found


def _bytes(letter: str, size: str | None) -> int:
    """How large what a number is assigned to is."""
    if letter not in _REALS:
        return _SIZES.get(size, 8)
    if size == "L":
        raise NotFollowedError("scanf of a long double")
    return 8 if size else 4


def _directives(form: str) -> Iterator[re.Match[str]]:
    at = 0
    while at < len(form):
        found = _DIRECTIVE.match(form, at)
        if found is None:
            raise NotFollowedError(f"scanf with the format {form!r}")
        yield found
        at = found.end()


def _converted_field(letter: str, text: bytes) -> tuple[int | float | bytes, int]:
    """A value, and how many bytes it took (0: none fits)."""
    if letter in _BASES:
        return integer(text, _BASES[letter])
    if letter in _REALS:
        return parsed_real(text)
    if letter == "c":
        return text, len(text)
    if letter == "s":
        word = re.match(rb"[^ \t\n\v\f\r]*", text)
    else:
        inner = letter[1:-1].encode("latin-1")
        negated = inner.startswith(b"^")
        kept = _members(inner[negated:])
        end = next((at for at, c in enumerate(text) if (c in kept) == negated), len(text))
        return text[:end], end
    assert word is not None
    return word.group(), word.end()


def _members(inner: bytes) -> frozenset[int]:
    """The characters of a scan set, with its ranges."""
    found, at = set[int](), 0
    while at < len(inner):
        if at + 2 < len(inner) and inner[at + 1 : at + 2] == b"-":
            found.update(range(inner[at], inner[at + 2] + 1))
            at += 3
        else:
            found.add(inner[at])
            at += 1
    return frozenset(found)


def _after_spaces(text: bytes, at: int) -> int:
    while at < len(text) and text[at] in _SPACES:
        at += 1
    return at
