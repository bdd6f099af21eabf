"""Progress as lines of a file: what was tried, in which order, and what it showed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TextIO

from afterd.model.change import ChangeId, ChangeSet, in_order
from afterd.model.outcome import Outcome
from afterd.report.sanitize import clipped, one_line

_MOST_NAMED = 12
_MOST_CHARACTERS = 160


class ProgressLog:
    """A listener that writes one line an event, with the seconds since it was made."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._began = time.monotonic()

    def stage(self, name: str, detail: str = "") -> None:
        """A stage began."""
        self._write(f"{name}{': ' + detail if detail else ''}")

    def tried(self, reverted: ChangeSet, outcome: Outcome, runs: int) -> None:
        """A variant was tried."""
        cost = "cached" if outcome.cached else _cost(outcome)
        why = f" ({outcome.reason.value})" if outcome.reason else ""
        self._write(
            f"run {runs}: {_named(in_order(reverted))} -> {outcome.verdict.value}{why}, {cost}"
        )

    def built(self, reverted: ChangeSet, *, ok: bool) -> None:
        """A variant was built."""
        self._write(f"build: {_named(in_order(reverted))} {'builds' if ok else 'does not build'}")

    def counted(self, done: int, found: int, red: int) -> None:
        """How far a suite is: not kept."""

    def suspects(self, changes: Sequence[ChangeId]) -> None:
        """The suspects changed."""
        self._write(f"suspects: {_named(changes)}")

    def _write(self, line: str) -> None:
        seconds = time.monotonic() - self._began
        shown = one_line(clipped(line, _MOST_CHARACTERS))
        self._stream.write(f"{seconds:7.1f}s  {shown}\n")
        self._stream.flush()


def _cost(outcome: Outcome) -> str:
    return f"build {outcome.build_seconds:.1f}s, test {outcome.test_seconds:.1f}s"


def _named(changes: Sequence[ChangeId]) -> str:
    """The first few, and how many there are."""
    first = " ".join(changes[:_MOST_NAMED])
    return first if len(changes) <= _MOST_NAMED else f"{first} … ({len(changes)} in all)"
