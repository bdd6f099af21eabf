"""What was run and what it cost, and whether the budget allows more."""

from __future__ import annotations

import time
from collections.abc import Callable

from afterd.config import Budget
from afterd.execution.executors.protocol import Attempt
from afterd.model.explanation import RunCounts, Seconds


class Ledger:
    """Counts of one explanation; the clock starts with it."""

    def __init__(self, budget: Budget, clock: Callable[[], float] = time.monotonic) -> None:
        self.budget = budget
        self._clock = clock
        self._began = clock()
        self.tests = 0
        self.builds = 0
        self.cached = 0
        self.confirmation = 0
        self.warm = 0
        self._build_seconds = 0.0
        self._test_seconds = 0.0

    def record(self, attempt: Attempt, *, confirmation: bool = False) -> None:
        """Count what ``attempt`` ran; the runs that confirm both ends are counted apart."""
        if confirmation:
            self.confirmation += attempt.tests
        else:
            self.tests += attempt.tests
        self.warm += attempt.warm_tests
        self.builds += attempt.builds
        self._build_seconds += attempt.outcome.build_seconds
        self._test_seconds += attempt.outcome.test_seconds

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the budget is spent, not below 0; None where it has no such end."""
        if self.budget.seconds is None:
            return None
        return max(0.0, self.budget.seconds - (self._clock() - self._began))

    @property
    def runs_left(self) -> int | None:
        """Test runs that are still allowed; None where their number is not limited."""
        return None if self.budget.runs is None else max(0, self.budget.runs - self.tests)

    @property
    def spent(self) -> bool:
        """Whether nothing more may be run."""
        return self.seconds_left == 0.0 or self.runs_left == 0

    def counts(self) -> RunCounts:
        """The counts so far; the seconds of tracing and solving are others' to add."""
        total = self._clock() - self._began
        seconds = Seconds(total=total, build=self._build_seconds, test=self._test_seconds)
        return RunCounts(
            tests=self.tests,
            builds=self.builds,
            cached=self.cached,
            confirmation=self.confirmation,
            seconds=seconds,
            warm=self.warm,
        )
