"""Budgets of a job and of a day, and quiet hours: whether a run may be started now."""

from __future__ import annotations

import time
from collections.abc import Callable

from afterd.config import Budget, Settings
from afterd.store.database import Reader
from afterd.store.jobs import Job
from afterd.store.journal import spent_since

DAY = 86400.0


def left_of(budget: Budget, reader: Reader, job: Job, test: str) -> Budget | None:
    """What a job may still spend of its budget on a test, in builds and tests; None: nothing.

    What it spent on that test before it was killed is not taken off: it is counted again.
    """
    seconds, runs = spent_since(reader, 0.0, job.id, but_for=test)
    return _rest(budget, seconds, runs)


def pause(settings: Settings, reader: Reader, clock: Callable[[], float] = time.time) -> str:
    """Why no job is started now, as the end of a sentence; empty: nothing stands in the way."""
    now = clock()
    if settings.quiet_hours is not None:
        local = time.localtime(now)
        if settings.quiet_hours.left(local.tm_hour * 60 + local.tm_min):
            return f"quiet hours ({settings.quiet_hours})"
    seconds, runs = spent_since(reader, now - DAY)
    if _rest(settings.day_budget, seconds, runs) is None:
        return f"the budget of 24 hours ({settings.day_budget}) is spent"
    return ""


def _rest(budget: Budget, seconds: float, runs: int) -> Budget | None:
    left_seconds = None if budget.seconds is None else budget.seconds - seconds
    left_runs = None if budget.runs is None else budget.runs - runs
    if any(left is not None and left <= 0 for left in (left_seconds, left_runs)):
        return None
    return Budget(left_seconds, left_runs)
