"""The test function of delta debugging: cached, counted, and ended by the budget."""

from __future__ import annotations

from collections.abc import Callable

from afterd.model.change import ChangeSet
from afterd.model.outcome import Outcome, Unresolved, Verdict


class SpentError(Exception):
    """The budget allows no further run; what is known then is the answer."""


class Tested:
    """Outcomes of reverting sets of changes. Each set is asked for once; ``calls`` counts those.

    ``known`` are outcomes seen before (both ends of the range, for instance): they cost nothing.
    """

    def __init__(
        self,
        outcome: Callable[[ChangeSet], Outcome],
        known: dict[ChangeSet, Verdict] | None = None,
    ) -> None:
        self._outcome = outcome
        self._known = dict(known or {})
        self.calls = 0

    def __call__(self, reverted: ChangeSet) -> Verdict:
        """The verdict on the bad version without these changes; raises SpentError."""
        if reverted not in self._known:
            self.calls += 1
            outcome = self._outcome(reverted)
            if outcome.reason is Unresolved.NOT_RUN:
                raise SpentError
            self._known[reverted] = outcome.verdict
        return self._known[reverted]
