"""Dynamic analysis: the smallest set of changes whose reversal makes the test pass (AFTER, II-B).

Only passing executions decide. A variant that does not build is completed by its auxiliary changes
before it is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afterd.model.change import ChangeId, ChangeSet
from afterd.model.outcome import Outcome, Unresolved

Partition = Callable[[Sequence[ChangeId], int], list[list[ChangeId]]]


@dataclass(frozen=True, slots=True)
class Tried:
    """A variant that was tried: the set asked for, what had to go along, and the outcome."""

    reverted: ChangeSet
    auxiliary: ChangeSet
    outcome: Outcome

    @property
    def passed(self) -> bool:
        """Whether the test passed."""
        return self.outcome.passed


class Reversion:
    """Reverts sets of changes, with auxiliary changes where they do not build; remembers everything."""

    def __init__(
        self, outcome: Callable[[ChangeSet], Outcome], auxiliary: Callable[[ChangeSet, Outcome], ChangeSet | None]
    ) -> None:
        self._outcome = outcome
        self._auxiliary = auxiliary
        self._tried: dict[ChangeSet, Tried] = {}
        self.spent = False

    def try_(self, reverted: ChangeSet) -> Tried:
        """The outcome of reverting a set (and what it needs in order to build)."""
        if reverted not in self._tried:
            tried = self._try(reverted)
            if tried.outcome.reason is Unresolved.NOT_RUN:
                self.spent = True
                return tried
            self._tried[reverted] = tried
        return self._tried[reverted]

    def passes(self, reverted: ChangeSet) -> bool:
        """Whether the test passes with the set reverted."""
        return self.try_(reverted).passed

    def _try(self, reverted: ChangeSet) -> Tried:
        outcome = self._outcome(reverted)
        if outcome.built:
            return Tried(reverted, frozenset(), outcome)
        needed = self._auxiliary(reverted, outcome)
        if needed is None or not needed:
            return Tried(reverted, frozenset(), outcome)
        return Tried(reverted, needed, self._outcome(reverted | needed))


def dynamic_analysis(
    passes: Callable[[ChangeSet], bool], changes: Sequence[ChangeId], partition: Partition, n: int = 1
) -> ChangeSet | None:
    """DynamicAnalysisRecur (Algorithm 2), iterative; None when reverting all of them does not pass."""
    current = list(changes)
    whole = None
    while n <= len(current):
        smaller = None
        for part in partition(current, n):
            if passes(frozenset(part)):
                smaller, n = part, 1
                break
            rest = [change for change in current if change not in set(part)]
            if 1 < n and rest and passes(frozenset(rest)):
                smaller, n = rest, max(n - 1, 2)
                break
        if smaller is None:
            n = 2 * n
        elif len(smaller) == len(current):
            whole, n = frozenset(current), 2
        else:
            current, whole = smaller, frozenset(smaller)
            n = max(n, 2)
    return whole


def smallest_prefix(passes: Callable[[ChangeSet], bool], ordered: Sequence[ChangeId]) -> ChangeSet | None:
    """A minimal passing set out of suspects in order; None when reverting all does not pass.

    The shortest passing prefix is found by galloping and bisection; its last change is needed (the
    prefix without it fails), and the rest is searched again with that change reverted. With evidence
    in the order this takes k + 1 runs where the k guilty ones come first.
    """
    kept: ChangeSet = frozenset()
    remaining = list(ordered)
    while True:
        if kept and passes(kept):
            return kept
        length = _shortest(lambda m: passes(kept | frozenset(remaining[:m])), len(remaining))
        if length is None:
            return None
        kept |= {remaining[length - 1]}
        remaining = remaining[: length - 1]


def _shortest(passes: Callable[[int], bool], longest: int) -> int | None:
    """The least passing length in 1…longest, if passing is monotone; some passing one, if not."""
    failing, length = 0, 1
    while length < longest and not passes(length):
        failing, length = length, min(2 * length, longest)
    if length >= longest:
        if longest < 1 or not passes(longest):
            return None
        length = longest
    while length - failing > 1:
        middle = (length + failing) // 2
        if passes(middle):
            length = middle
        else:
            failing = middle
    return length


def one_minimal(passes: Callable[[ChangeSet], bool], root: ChangeSet) -> ChangeSet:
    """The root without every change that it passes without, checked one by one."""
    for change in sorted(root, key=lambda identifier: (-len(identifier), identifier)):
        if len(root) > 1 and passes(root - {change}):
            root -= {change}
    return root
