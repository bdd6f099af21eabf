"""In idle time a past answer is verified again: root undone passes, put back fails.

What comes of it is the daemon's calibration: of the answers that were checked, so many held. People
correct it with ``afterd mark``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from afterd.config import Settings
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import Verdict
from afterd.pipeline import replay
from afterd.store import Store
from afterd.store.jobs import Job, JobQueue, unfinished_jobs
from afterd.store.self_checks import (
    Record,
    SelfCheck,
    keep_self_check,
    last_check,
    next_to_check,
)

SELF_CHECK = "self-check"
_LOWEST = -10
_REVERTED = "reverted"


@dataclass(frozen=True, slots=True)
class Calibration:
    """How often answers hold: the rate, and the interval it lies in with a probability of 95 %.

    Both are 0 to 1, from a Beta posterior with Jeffreys' prior (alpha = beta = 1/2).
    """

    held: int
    of: int
    rate: float
    low: float
    high: float


def calibration(record: Record) -> Calibration:
    """What checks and people say of the answers: an answer refuted by either does not hold."""
    held = record.held + record.marked - record.refuted
    wrong = record.failed + record.refuted
    from scipy import special  # noqa: PLC0415 - half of what a daemon would import to start

    a, b = held + 0.5, wrong + 0.5  # of the posterior, a beta distribution
    low, high = (float(special.betaincinv(a, b, share)) for share in (0.025, 0.975))
    return Calibration(held, held + wrong, a / (a + b), low, high)


def plan(store: Store, settings: Settings, clock: Callable[[], float] = time.time) -> bool:
    """Queue a self-check if there is nothing else to do and the last one is long enough ago."""
    if unfinished_jobs(store) or clock() - last_check(store) < settings.self_check:
        return False
    identifier = next_to_check(store)
    if identifier is None:
        return False
    payload = json.dumps({"explanation": identifier})
    JobQueue(store).enqueue(f"{SELF_CHECK}:{identifier}", SELF_CHECK, payload, priority=_LOWEST)
    return True


def check(settings: Settings, store: Store, job: Job) -> SelfCheck:
    """Do the job: run the bad version without the root, and as it is."""
    identifier = int(json.loads(job.payload)["explanation"])
    queue = JobQueue(store)
    if job.stage == _REVERTED:
        reverted = Verdict(job.checkpoint)
    else:
        reverted = _replayed_verdict(settings, identifier, None)
        queue.reach(job, _REVERTED, reverted.value)
    put_back = _replayed_verdict(settings, identifier, NOTHING)
    seen = SelfCheck(identifier, reverted, put_back, _answer_holds(reverted, put_back))
    with store.transaction():
        keep_self_check(store, seen)
        queue.complete(job)
    return seen


def _replayed_verdict(settings: Settings, identifier: int, reverted: ChangeSet | None) -> Verdict:
    return replay(settings, identifier, reverted).outcome.verdict


def _answer_holds(reverted: Verdict, put_back: Verdict) -> bool | None:
    """None where a run gave no verdict: that is the machine's fault, or the test's."""
    if Verdict.UNRESOLVED in (reverted, put_back):
        return None
    return reverted is Verdict.PASS and put_back is Verdict.FAIL
