"""When the commits' own versions are run: where they tell more for a run than trials of changes do.

What is thought of changes says which commits are likely, so a bisection takes about as many runs as is left
uncertain of the commit (in bits), and one more. Trials of changes tell more at once where one is likely, and
less where parts of a rewrite fail in ways of their own. What they will tell is a guess, though, and how many runs
halving takes is known. Who spends on the first what the second costs, and then turns to it, never pays more than
twice what the better one would have (the ski rental problem; Karlin, Manasse, Rudolph and Sleator, Competitive
snoopy caching, 1988).
"""

from __future__ import annotations

from collections.abc import Callable

from afterd.causality.deltas.history import uncertainty
from afterd.model.change import NO_GUILT, CommitGuilt


class ShorterRangeError(Exception):
    """The commits' own versions told a shorter range, which is to be searched instead."""


def not_shorter(guilt: CommitGuilt) -> bool:  # noqa: ARG001 - it answers whether a bisection told more
    """The answer where no commits can be bisected."""
    return False


class Halving:
    """A bisection of the ``commits`` of a range, made once: ``shorter`` makes it, and says whether it told more."""

    def __init__(
        self, commits: int = 0, shorter: Callable[[CommitGuilt], bool] = not_shorter
    ) -> None:
        self._runs = commits.bit_length() if commits > 1 else 0
        self._shorter = shorter

    def make(self, guilt: CommitGuilt = NO_GUILT) -> None:
        """Bisect the commits. Raises ShorterRangeError where that leaves a part of the range."""
        runs, self._runs = self._runs, 0
        if runs and self._shorter(guilt):
            raise ShorterRangeError

    @property
    def waits(self) -> bool:
        """Whether there are commits to bisect, and they were not yet."""
        return self._runs > 0

    def is_due(self, trials: float) -> bool:
        """Whether so many trials cost what it takes."""
        return self.waits and self._runs <= trials

    def tells_more(self, gain: float, guilt: CommitGuilt) -> bool:
        """Whether a run of it tells more than a trial from which so many bits are hoped for."""
        bits = uncertainty(guilt) if guilt else self._runs
        return self.waits and gain < bits / (bits + 1)
