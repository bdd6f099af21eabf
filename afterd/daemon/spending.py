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
    left = budget.without(seconds, runs)
    return None if left.is_spent else left


def pause(settings: Settings, reader: Reader, clock: Callable[[], float] = time.time) -> str:
    """Why no job is started now, as the end of a sentence; empty: nothing stands in the way."""
    now = clock()
    if settings.quiet_hours is not None:
        local = time.localtime(now)
        if settings.quiet_hours.left(local.tm_hour * 60 + local.tm_min):
            return f"quiet hours ({settings.quiet_hours})"
    seconds, runs = spent_since(reader, now - DAY)
    if settings.day_budget.without(seconds, runs).is_spent:
        return f"the budget of 24 hours ({settings.day_budget}) is spent"
    return ""
