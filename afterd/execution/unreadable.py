"""A process that others of the same user cannot look into.

Tests run as the user. A process that holds a token shows it in ``/proc/PID/environ`` and
``/proc/PID/mem`` to whoever has the same user id, unless it is not dumpable (prctl(2)). Root sees
everything; there only a user of its own helps.
"""

from __future__ import annotations

import ctypes
import sys

_PR_SET_DUMPABLE = 4


def make_unreadable() -> bool:
    """Hide this process's environment and memory; False where the system cannot."""
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
