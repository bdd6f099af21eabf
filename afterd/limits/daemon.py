"""How long the daemon waits, and how often it tries again. All chosen; times in seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobLimits:
    """One job of the queue, which is taken up again ``busy``, ``full``, ``unheld`` or ``lost`` seconds later.

    ``lease`` is the time without a sign of life after which its worker is dead. After ``attempts`` leases in a
    row that reached nothing it is given up. ``lost``: after the first, the second and each other of them whose
    runs were killed from outside.
    """

    lease: float = 120.0
    attempts: int = 10  # fewer gave up jobs whose workers were killed
    busy: float = 5.0  # another afterd is at work
    full: float = 60.0  # a full disk: trying again costs a write that fails
    unheld: float = 600.0  # nothing holds its tests: what is missing may be installed
    lost: tuple[float, ...] = (60.0, 600.0, 3600.0)  # what took the memory may have ended


JOB = JobLimits()


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """What the daemon does when nothing happens, and how soon it looks when something does."""

    rest: float = 1.0  # between looks into the queue: leases end and delays pass without an event
    posting: float = 30.0  # between looks into the outbox
    settle: float = 0.2  # after an event, in which others of the same rebase or fetch follow
    idle: float = 60.0  # between looks for time to verify a past answer
    tidying: float = 86_400.0  # between removals of what is older than the retention


WATCH = WatchLimits()
