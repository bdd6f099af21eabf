"""What is killed of a daemon at work, and when: each kind of process in turn, at moments that a seed chooses."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from afterd.bench.budgets import DAY
from afterd.execution.process_tree import walk

_KINDS = {
    b"afterd.execution.supervisor": "supervisor",
    b"solver_process": "solver",
    b"maxsat_process": "solver",
    b"correction_process": "solver",
    b"afterd": "another process of afterd",
    b"zig": "compiler",
    b"clang": "compiler",
    b"cc1": "compiler",
}
_DAEMON = "daemon"


class Kills:
    """Kills what a daemon has started, and the daemon; ``counted`` by what it was."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(f"kills {seed}")  # noqa: S311 - no secret
        self._next: float | None = None
        self.counted: Counter[str] = Counter()

    @property
    def done(self) -> int:
        """How many there were."""
        return self.counted.total()

    def disturb(self, daemon: int) -> None:
        """Kill something of a daemon that is at work, if it is time; to be called again and again."""
        now = time.monotonic()
        if self._next is None:
            self._next = now + self._chance.uniform(0.0, DAY.between)
        if now < self._next:
            return
        self._next = None
        kind, pid = self._victim({daemon: _DAEMON, **{pid: _kind(pid) for pid in walk(daemon)}})
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.counted[kind] += 1

    def _victim(self, there: Mapping[int, str]) -> tuple[str, int]:
        """One of the kind that was killed least: a supervisor lives for less than a second, a daemon all day."""
        kinds: dict[str, list[int]] = {}
        for pid, kind in there.items():
            kinds.setdefault(kind, []).append(pid)
        kind = min(kinds, key=lambda each: (self.counted[each], each))
        return kind, self._chance.choice(kinds[kind])


def _kind(pid: int) -> str:
    """What a process is, by its command line."""
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return "program"
    return next((kind for words, kind in _KINDS.items() if words in line), "program")
