"""Zeller's delta debugging over the changes of a range (Zeller, Hildebrandt, TSE 28(2), 2002).

``dd`` isolates a minimal difference between a passing and a failing set of *applied* changes: what
AFTER compares itself with. Applying a set is reverting the others. It is deterministic and asks for at most n² + 3n
outcomes of n units (section 3 of the paper).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from afterd.causality.deltas.tested import SpentError, Tested
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import Outcome, Verdict

Unit = ChangeSet
"""Changes that are applied and reverted together."""


@dataclass(frozen=True, slots=True)
class Isolation:
    """``passing`` and ``failing`` are sets of applied changes, the first within the second.

    ``complete`` is False where the budget ended the search before the difference was minimal.
    """

    passing: ChangeSet
    failing: ChangeSet
    calls: int
    complete: bool = True

    @property
    def difference(self) -> ChangeSet:
        """What delta debugging answers: the changes that make the difference."""
        return self.failing - self.passing


def dd(units: Sequence[Unit], outcome: Callable[[ChangeSet], Outcome]) -> Isolation:
    """The minimal difference between the good version and the bad one.

    Both ends are taken for granted: nothing applied passes, everything applied fails.
    """
    everything = NOTHING.union(*units)
    tested = Tested(outcome, {NOTHING: Verdict.FAIL, everything: Verdict.PASS})
    return isolate(units, tested, NOTHING, everything)


def isolate(
    units: Sequence[Unit], tested: Tested, passing: ChangeSet, whole: ChangeSet
) -> Isolation:
    """``dd`` from ``passing`` to ``passing`` with all ``units`` applied.

    ``whole`` are all changes of the range: what is not applied is reverted.
    """
    return _Search(tested, whole).run(list(units), passing)


class _Search:
    def __init__(self, tested: Tested, whole: ChangeSet) -> None:
        self._tested = tested
        self._whole = whole

    def run(self, delta: list[Unit], passing: ChangeSet) -> Isolation:
        n = 2
        complete = True
        while n <= len(delta):
            try:
                smaller = self._step(delta, passing, n)
            except SpentError:
                complete = False
                break
            if smaller is not None:
                delta, passing, n = smaller
            elif n < len(delta):
                n = min(2 * n, len(delta))
            else:
                break
        return Isolation(passing, passing.union(*delta), self._tested.calls, complete)

    def _step(
        self, delta: list[Unit], passing: ChangeSet, n: int
    ) -> tuple[list[Unit], ChangeSet, int] | None:
        """The first rule of dd₂ that applies; the latest part is tried first (AFTER, Fig. 10)."""
        splits = list(_parts(delta, n))
        for part, rest in splits:
            verdict = self._verdict(passing.union(*part))
            if verdict is Verdict.FAIL:
                return part, passing, 2
            if verdict is Verdict.PASS and n == 2:  # the other half is what is missing
                return rest, passing.union(*part), 2
        for part, rest in splits:
            if self._verdict(passing.union(*rest)) is Verdict.PASS:
                return part, passing.union(*rest), 2
        for part, rest in splits:
            if self._verdict(passing.union(*part)) is Verdict.PASS:
                return rest, passing.union(*part), max(n - 1, 2)
        for _, rest in splits:
            if self._verdict(passing.union(*rest)) is Verdict.FAIL:
                return rest, passing, max(n - 1, 2)
        return None

    def _verdict(self, applied: ChangeSet) -> Verdict:
        return self._tested(self._whole - applied)


def _parts(units: list[Unit], n: int) -> Iterator[tuple[list[Unit], list[Unit]]]:
    """``n`` parts of about equal size with the rest of each, the last part first."""
    borders = [round(i * len(units) / n) for i in range(n + 1)]
    for i in reversed(range(n)):
        start, end = borders[i], borders[i + 1]
        yield units[start:end], units[:start] + units[end:]
