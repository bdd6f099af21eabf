"""Landlock, the kernel's own sandbox for whoever asks: no writing but below the places that are named.

Three system calls through ctypes (landlock(7)); imported by the supervisor, so it must load fast.
Reading and executing stay as they are, since a test needs compilers, libraries and its interpreter.
"""

from __future__ import annotations

import ctypes
import os
import struct

TYPE_CHECKING = False  # typing's own constant costs 2 ms to import
if TYPE_CHECKING:
    from collections.abc import Iterable

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_WRITE_FILE, _REFER, _TRUNCATE = 1 << 1, 1 << 13, 1 << 14
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_SIGNALS_AND_ABSTRACT_SOCKETS = 3  # of processes outside, from version 6 on
DEVICES = tuple(
    f"/dev/{name}".encode()
    for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
)


def hold(libc: ctypes.CDLL, version: int, writable: Iterable[bytes]) -> None:
    """Take from this process, for ever and with all it starts, the right to write elsewhere.

    Raises OSError where the kernel refuses.
    """
    file = _WRITE_FILE | (_TRUNCATE if version >= 3 else 0)
    everything = file | _REMOVE_AND_MAKE | (_REFER if version >= 2 else 0)
    wanted = struct.pack("QQQ", everything, 0, _SIGNALS_AND_ABSTRACT_SOCKETS)
    wanted = wanted if version >= 6 else wanted[:8]
    rules = _checked_call(libc.syscall(_CREATE, wanted, len(wanted), 0))
    for path in (*writable, *DEVICES):
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # what is not there needs no right
        allowed = everything if os.path.isdir(path) else file  # noqa: PTH112 - pathlib takes 3 ms to load
        rule = struct.pack("=Qi", allowed, place)
        _checked_call(libc.syscall(_ADD, rules, _PATH_BENEATH, rule, 0))
        os.close(place)
    _checked_call(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked_call(libc.syscall(_RESTRICT, rules, 0))
    os.close(rules)


def _checked_call(result: int) -> int:
    if result < 0:
        raise OSError("the kernel refuses Landlock")
    return result
