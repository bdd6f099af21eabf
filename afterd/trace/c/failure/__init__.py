"""The failed assertion of one process: abort, crash or exit status."""

from afterd.trace.c.failure.crashes import crash
from afterd.trace.c.failure.endings import wrong_status
from afterd.trace.c.failure.failed import NEVER, Failed, another_value, call_at, other_way
from afterd.trace.c.failure.hangs import hang, waiting

__all__ = [
    "NEVER",
    "Failed",
    "another_value",
    "call_at",
    "crash",
    "hang",
    "other_way",
    "waiting",
    "wrong_status",
]
