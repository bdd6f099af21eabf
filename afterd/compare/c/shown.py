"""Which of a program's wrong outputs the test looks at: its own words tell, those that it prints and those that
it was written with.

A program may write several files, and two releases differ in most of them. What a test prints differs,
too: the line that it missed, or found, is in one of its two outputs alone. A test that prints nothing
(``prog | grep -q '^int x;'``) has what it looks for in its text, in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from afterd.limits import SEARCH

_OF_PATTERNS = re.compile(r"[*+?^$|()\[\]{}\\]")
_FAILS = re.compile(r"(?<!\w)(?:fail(?:ed|s|ure)?|not ok)(?!\w)", re.IGNORECASE)


class Shown:
    """What the test printed in the failing run and in the green one, and the ``quoted`` texts of the test itself."""

    def __init__(self, mine: str, other: str, quoted: Iterable[str] = ()) -> None:
        here, there = (frozenset(map(str.strip, text.splitlines())) for text in (mine, other))
        self._differing = here ^ there
        self._quoted = tuple(text for each in quoted if _is_telling(text := _spaced(each)))

    def rank(self, observed: str, expected: str) -> tuple[bool, int]:
        """Sorts wrong outputs: first those of which the test says something, then those that it was written for."""
        return not self.tells_of(observed, expected), -self.asks_for(observed, expected)

    def tells_of(self, observed: str, expected: str) -> bool:
        """Whether a line that only one of the runs shows has one of the two texts in it."""
        texts = {
            text.strip() for text in (observed, expected) if observed.strip() != expected.strip()
        }
        return any(text in line for text in texts if _is_telling(text) for line in self._differing)

    def asks_for(self, observed: str, expected: str) -> int:
        """How much the test's own text has of a wrong line: 2 where it tells the two texts apart or has one of
        them whole, 1 where it has a part of one, 0 where it has nothing of them.
        """
        texts = [_spaced(observed), _spaced(expected)]
        if any(_tells(quoted, *texts) for quoted in self._quoted):
            return 2
        return int(any(_has_part(quoted, text) for quoted in self._quoted for text in texts))


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _is_telling(text: str) -> bool:
    return sum(letter.isalnum() for letter in text) >= SEARCH.letters


def _tells(quoted: str, observed: str, expected: str) -> bool:
    if (quoted in observed) != (quoted in expected):
        return True
    return any(_is_telling(text) and text in quoted for text in (observed, expected))


def _has_part(quoted: str, text: str) -> bool:
    """Whether a text has the longest piece of what may be a pattern."""
    longest = max(_OF_PATTERNS.split(quoted), key=len).strip()
    return _is_telling(longest) and longest in text


def turned_red(observed: str, expected: str) -> bool:
    """Whether a line says that something failed where green's line does not: a program that runs its own tests
    prints a line for each, and lines of those that pass may differ as well.
    """
    return bool(expected.strip()) and bool(_FAILS.search(observed)) > bool(_FAILS.search(expected))
