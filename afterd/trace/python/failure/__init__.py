"""The failed assertion as the test runner reported it."""

from afterd.trace.python.failure.assertions import RAISED, Seen, expecting, looked_at, observing
from afterd.trace.python.failure.failures import (
    Failures,
    departures,
    output_predicate,
    raised_at,
    reported,
)
from afterd.trace.python.failure.hangs import rounds

__all__ = [
    "RAISED",
    "Failures",
    "Seen",
    "departures",
    "expecting",
    "looked_at",
    "observing",
    "output_predicate",
    "raised_at",
    "reported",
    "rounds",
]
