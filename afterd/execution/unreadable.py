"""A process that others of the same user cannot look into.

Tests run as the user. A process that holds a token shows it in ``/proc/PID/environ`` and
``/proc/PID/mem`` to whoever has the same user id, unless it is not dumpable (prctl(2)). Root sees
everything; there only a user of its own helps.
"""

from __future__ import annotations

import ctypes
import os
import sys

READY_VARIABLE = "AFTERD_UNREADABLE"
"""Names a descriptor that is closed when nobody can look into the process any more: who started it
waits for that before it runs a test.
"""

_PR_SET_DUMPABLE = 4


def make_unreadable() -> bool:
    """Hide this process's environment and memory; False where the system cannot."""
    hidden = sys.platform == "linux" and _prctl() == 0
    if descriptor := os.environ.pop(READY_VARIABLE, ""):
        os.close(int(descriptor))
    return hidden


def _prctl() -> int:
    return int(ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))
