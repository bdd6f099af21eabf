"""What is killed of a daemon at work, and when: each kind of process in turn, at moments that a seed chooses."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from afterd.bench.budgets import DAY
from afterd.execution.process_tree import walk

DAEMON = "daemon"
_PROGRAMS = {
    "make": "make",
    "cc": "compiler",
    "gcc": "compiler",
    "cc1": "compiler",
    "as": "compiler",
    "clang": "compiler",
    "collect2": "linker",
    "ld": "linker",
    "ld.lld": "linker",
}
_OF_ZIG = {"ld.lld": "linker", "build-exe": "linker"}  # by its first argument; all else compiles
_OF_PYTHON = {
    "afterd.execution.supervisor": "supervisor",
    "solver_process": "solver",
    "maxsat_process": "solver",
    "correction_process": "solver",
    "afterd-cc": "compiler",
    "ziglang": "compiler",
    "afterd_runtime.warm": "warm process",
    "afterd": "another process of afterd",
}
_ANY = "program"
_BUILDING = frozenset({"make", "compiler", "linker"})


class Kills:
    """Kills what a daemon has started, and the daemon; ``counted`` by what it was."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(f"kills {seed}")  # noqa: S311 - no secret
        self._next: float | None = None
        self._known = {DAEMON, *_BUILDING}
        self.counted: Counter[str] = Counter()

    @property
    def done(self) -> int:
        """How many there were."""
        return self.counted.total()

    def disturb(self, daemon: int, *, builds: bool) -> None:
        """Kill something of a daemon that is at work, if it is time; to be called again and again.

        ``builds``: what it works at is built.
        """
        now = time.monotonic()
        if self._next is None:
            self._next = now + self._chance.uniform(0.0, DAY.between)
        if now < self._next:
            return
        self._next = None
        kind, pid = self._victim(daemon, builds=builds)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.counted[kind] += 1

    def _victim(self, daemon: int, *, builds: bool) -> tuple[str, int]:
        """One of the kind that was killed least. A compiler lives for a tenth of a second, a daemon all day: it
        is waited for, a while, to be there.
        """
        left_out = frozenset() if builds else _BUILDING
        until = time.monotonic() + DAY.lurking
        while True:
            there = self._there(daemon)
            self._known |= there.keys()
            kind = min(there, key=lambda each: (self.counted[each], each))
            least = min(self.counted[each] for each in self._known - left_out)
            if self.counted[kind] == least or time.monotonic() > until:
                return kind, self._chance.choice(there[kind])
            time.sleep(DAY.peep)

    def _there(self, daemon: int) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {DAEMON: [daemon]}
        for pid in walk(daemon):
            found.setdefault(kind_of_process(_command_line(pid)), []).append(pid)
        return found


def _command_line(pid: int) -> Sequence[str]:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ()
    return line.decode(errors="replace").split("\0")


def kind_of_process(argv: Sequence[str]) -> str:
    """What a process is, by its command line: paths may have any name in them."""
    name, *arguments = argv or ("",)
    program = Path(name).name
    if program == "zig" or program.startswith("python-zig"):
        return _told_kinds(_OF_ZIG, arguments[:1]) or "compiler"
    if program.startswith("python"):
        return _told_kinds(_OF_PYTHON, arguments) or _ANY
    return _PROGRAMS.get(program, _ANY)


def _told_kinds(kinds: Mapping[str, str], arguments: Sequence[str]) -> str:
    return next((kind for word, kind in kinds.items() if any(word in a for a in arguments)), "")
