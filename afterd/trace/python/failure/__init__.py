"""The failed assertion as the test runner reported it."""

from afterd.trace.python.failure.assertions import (
    RAISED,
    Seen,
    body_expecting,
    body_observing,
    looked_at,
)
from afterd.trace.python.failure.elsewhere import Outside
from afterd.trace.python.failure.failures import (
    Failures,
    departures,
    output_predicate,
    reported_failures,
)
from afterd.trace.python.failure.further import (
    came_as_far,
    came_further,
    moved,
    raised_at,
    raised_elsewhere,
)
from afterd.trace.python.failure.hangs import never_left

__all__ = [
    "RAISED",
    "Failures",
    "Outside",
    "Seen",
    "body_expecting",
    "body_observing",
    "came_as_far",
    "came_further",
    "departures",
    "looked_at",
    "moved",
    "never_left",
    "output_predicate",
    "raised_at",
    "raised_elsewhere",
    "reported_failures",
]
