"""What a listener hears while an explanation is under way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from afterd.model.change import ChangeId, ChangeSet
from afterd.model.outcome import Outcome

Signs = Mapping[str, float]
"""What speaks for and against a change: how much of each sign, by the name of its odds."""


class Progress(Protocol):
    """Live progress: every stage, every run, the current suspects. Implementations never raise."""

    def stage(self, name: str, detail: str = "") -> None:
        """A stage began ("building the bad version", "tracing", "solving", …)."""
        ...

    def tried(self, reverted: ChangeSet, outcome: Outcome, runs: int) -> None:
        """A variant was tried; ``runs`` counts test runs so far (cached ones not)."""
        ...

    def built(self, reverted: ChangeSet, *, ok: bool) -> None:
        """A variant was built, or could not be; its test was not run."""
        ...

    def counted(self, done: int, found: int, red: int) -> None:
        """Of a suite that is running: tests that ended, tests there are (0: not known), and how many are red."""
        ...

    def advanced(self, done: int, what: str) -> None:
        """A stage of which nobody knows how long it takes went on: ``done`` of ``what`` up to now."""
        ...

    def suspects(self, signs: Mapping[ChangeId, Signs]) -> None:
        """The changes that are under suspicion now, most suspicious first, and why each is."""
        ...


class Silent:
    """A listener that hears nothing."""

    def stage(self, name: str, detail: str = "") -> None:
        """Ignore it."""

    def tried(self, reverted: ChangeSet, outcome: Outcome, runs: int) -> None:
        """Ignore it."""

    def built(self, reverted: ChangeSet, *, ok: bool) -> None:
        """Ignore it."""

    def counted(self, done: int, found: int, red: int) -> None:
        """Ignore it."""

    def advanced(self, done: int, what: str) -> None:
        """Ignore it."""

    def suspects(self, signs: Mapping[ChangeId, Signs]) -> None:
        """Ignore it."""
