"""LLVM in a child of afterd-cc, which it may take down with it; its library is read while clang works.

A process of its own for each object would begin Python anew: that took as long as clang took.
"""

from __future__ import annotations

import importlib
import os
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

# here and not in afterd.limits, which afterd-cc would import anew for every file
_SECONDS = 300  # for LLVM, per module
_LONGEST = 300  # characters of what it said


@contextmanager
def imported_meanwhile(name: str) -> Iterator[Callable[[], Any]]:
    """Import a module beside what is done within; what is given returns it afterwards."""

    def importing() -> None:
        with suppress(Exception):  # whoever asks for it is told
            importlib.import_module(name)

    beside = Thread(target=importing)
    beside.start()
    try:
        yield lambda: importlib.import_module(name)
    finally:
        beside.join()


def failure_in_a_child(work: Callable[[], None], said: Path) -> str:
    """Do something in a forked process whose words go to ``said``; why it failed, or nothing."""
    child = os.fork()
    if child == 0:
        _work_and_end(work, said)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 0:
        return ""
    if status == -signal.SIGALRM:
        return f"code generation took more than {_SECONDS} seconds"
    words = said.read_text(errors="replace").splitlines() if said.exists() else []
    told = [line for line in words if line.strip() and not line.startswith(" ")]
    return (told or [f"code generation ended with status {status}"])[-1][:_LONGEST]


def _work_and_end(work: Callable[[], None], said: Path) -> None:
    status = 1
    try:
        words = os.open(said, os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(words, 1)
        os.dup2(words, 2)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_SECONDS)
        work()
        status = 0
    finally:
        if status:
            os.write(2, traceback.format_exc().encode(errors="replace"))
        os._exit(status)
