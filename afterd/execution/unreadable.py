"""A process that others of the same user cannot look into.

Tests run as the user. A process that holds a token shows it in ``/proc/PID/environ`` and
``/proc/PID/mem`` to whoever has the same user id, unless it is not dumpable (prctl(2)). Every
afterd makes itself so before it does anything. Root sees the memory of all the same; there the sandbox
helps, whose processes see no others, or a user of its own.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from afterd.config.secrets import is_secret

READY_VARIABLE = "AFTERD_UNREADABLE"
"""Names a descriptor that is closed when nobody can look into the process any more: who started it
waits for that before it runs a test.
"""

_PR_SET_DUMPABLE = 4


def make_unreadable() -> bool:
    """Hide this process's environment and memory; False where the system cannot."""
    hidden = sys.platform == "linux" and _prctl() == 0
    if sys.platform == "linux":
        _blot_out_secrets()
    if descriptor := os.environ.pop(READY_VARIABLE, ""):
        os.close(int(descriptor))
    return hidden


def _blot_out_secrets() -> None:
    """Overwrite the secrets where ``/proc/PID/environ`` shows them, which root reads all the same.

    The variables stay what they are in ``os.environ``; a child has to be given them from there. Where
    the block lies stands in fields 50 and 51 of proc(5)'s ``stat``, counted after the name.
    """
    try:
        fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        start, end = int(fields[47]), int(fields[48])
    except (OSError, IndexError, ValueError):
        return
    if not 0 < start < end:
        return
    place = start
    for entry in ctypes.string_at(start, end - start).split(b"\0"):
        name, _, value = entry.partition(b"=")
        if is_secret(os.fsdecode(name), os.fsdecode(value)):
            ctypes.memset(place + len(name) + 1, 0, len(value))
        place += len(entry) + 1


def _prctl() -> int:
    return int(ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))
