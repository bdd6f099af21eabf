"""The contract between the oracle and whatever builds and tests a variant for it."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from afterd.execution.recipe import Recipe
from afterd.model.outcome import FailureSignature, Outcome, Unresolved


@dataclass(frozen=True, slots=True)
class Job:
    """Build the tree ``tree`` and, unless ``build_only``, test it.

    ``seconds`` is what is left of the budget (None: no end); what it cuts off is NOT_RUN. ``fresh``:
    the test must run in a process of its own; ``forked``: where it passes in the first fork of a warm process, for
    which nothing was imported ahead, that will do. ``anew``: the tree is built from nothing, not upon what another
    left. A job is a value that can be sent to another machine.
    """

    tree: str
    recipe: Recipe
    build_only: bool = False
    seconds: float | None = None
    fresh: bool = False
    anew: bool = False
    forked: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a job showed.

    The outcome is not yet compared with the failure under explanation: any failure is FAIL, with
    its signature. A build that succeeded is a PASS where only that was asked. ``lasting`` says
    that another attempt would end alike, as far as one can tell. ``missing`` names a tool that the
    build did not find, ``unrunnable`` is a sentence where the test command itself cannot be run. Of
    the ``tests`` that were run only the last shows the outcome: others made a warm process ready, or
    were not to be trusted. ``failures`` are the failed tests that the run names, each by its own name.
    """

    outcome: Outcome
    lasting: bool = True
    builds: int = 0
    tests: int = 0
    missing: str = ""
    unrunnable: str = ""
    failures: tuple[FailureSignature, ...] = ()

    @property
    def warm_tests(self) -> int:
        """How many of the tests ran in forks of a warm process."""
        return self.tests if self.outcome.warm else max(0, self.tests - 1)

    @property
    def ended(self) -> bool:
        """Whether the run came to an end of its own, not to that of a budget or of afterd."""
        return self.outcome.reason not in (Unresolved.NOT_RUN, Unresolved.KILLED, Unresolved.LOST)


class Executor(Protocol):
    """Runs jobs, up to ``width`` at the same time."""

    @property
    def width(self) -> int:
        """How many jobs can be under way at once."""
        ...

    def submit(self, job: Job) -> Future[Attempt]:
        """Start ``job`` when there is room; the future raises AfterdError leaves."""
        ...

    def close(self) -> None:
        """End what is under way and give everything back."""
        ...
