"""What counting a suite needs beside the suite."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pygit2

from afterd.model.progress import Progress

Ran = Callable[[int, int], None]
"""Hears how many tests were run, and of how many."""


def tell_nobody(done: int, tests: int) -> None:
    """Nobody waits."""


@dataclass(frozen=True, slots=True)
class Counting:
    """Where state is kept, and how tests are run: ``jobs`` at once, counters of ``bits`` bits.

    ``each`` is a pattern of files: the test command is run with each of them. After ``until`` (of
    the monotonic clock) no further test is begun.
    """

    state: Path
    objects: pygit2.Repository
    progress: Progress
    jobs: int = 1
    bits: int = 32
    each: str = ""
    ran: Ran = tell_nobody
    until: float = math.inf
