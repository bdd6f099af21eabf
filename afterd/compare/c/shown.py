"""Which of a program's wrong outputs the test looks at: its own words at both ends tell.

A program may write several files, and two releases differ in most of them. What a test prints differs,
too: the line that it missed, or found, is in one of its two outputs alone.
"""

from __future__ import annotations

from afterd.limits import SEARCH


class Shown:
    """What the test printed in the failing run and in the green one."""

    def __init__(self, mine: str, other: str) -> None:
        here, there = (frozenset(map(str.strip, text.splitlines())) for text in (mine, other))
        self._differing = here ^ there

    def tells_of(self, observed: str, expected: str) -> bool:
        """Whether a line that only one of the runs shows has one of the two texts in it."""
        texts = {
            text.strip() for text in (observed, expected) if observed.strip() != expected.strip()
        }
        return any(
            text in line
            for text in texts
            if sum(letter.isalnum() for letter in text) >= SEARCH.letters
            for line in self._differing
        )
