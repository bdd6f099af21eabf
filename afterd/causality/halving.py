"""When the commits' own versions are run: once trials of changes have cost as many runs as that would.

How long a search by changes will be is not known; how many runs a bisection of the commits takes is. Who spends
on the first what the second costs, and then turns to it, never pays more than twice what the better one would
have (the ski rental problem; Karlin, Manasse, Rudolph and Sleator, Competitive snoopy caching, 1988).
"""

from __future__ import annotations

from collections.abc import Callable


class ShorterRangeError(Exception):
    """The commits' own versions told a shorter range, which is to be searched instead."""


def not_shorter() -> bool:
    """The answer where no commits can be bisected."""
    return False


class Halving:
    """A bisection of the ``commits`` of a range, made once: ``shorter`` makes it, and says whether it told more."""

    def __init__(self, commits: int = 0, shorter: Callable[[], bool] = not_shorter) -> None:
        self._runs = commits.bit_length() if commits > 1 else 0
        self._shorter = shorter

    def make(self) -> None:
        """Bisect the commits. Raises ShorterRangeError where that leaves a part of the range."""
        runs, self._runs = self._runs, 0
        if runs and self._shorter():
            raise ShorterRangeError

    def make_when_due(self, trials: int) -> None:
        """The same, once so many trials cost what it takes."""
        if trials >= self._runs:
            self.make()
