"""What afterd knows of a test runner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from afterd.execution.failures.written_reports import TestReport
from afterd.execution.process import ProcessResult


@dataclass(frozen=True, slots=True)
class Detected:
    """How a repository is built and tested.

    ``build`` is empty where nothing has to be built, ``test`` runs the whole suite, ``extra`` is
    set in the environment ("{slot}" stands for the slot's directory), and ``sentence`` tells the
    user what was found and what follows from it. ``tools`` is a digest of whatever is installed that
    outcomes depend on; ``several`` are the arguments with which ``test`` runs in several processes
    (empty: it cannot). ``reported``: each test's outcome is written as it ends, and tests can be chosen.
    ``generated`` is as in ``Recipe``; ``alone``: the command takes the name of one test. ``unbuilt`` are test
    files that run without the build that others need.
    """

    runner: str
    build: tuple[str, ...]
    test: tuple[str, ...]
    sentence: str
    extra: Mapping[str, str] = field(default_factory=dict)
    tools: str = ""
    several: tuple[str, ...] = ()
    reported: bool = False
    generated: Mapping[str, str] = field(default_factory=dict)
    alone: bool = True
    unbuilt: frozenset[str] = frozenset()


class Runner(Protocol):
    """One way of testing a repository. Stateless; paths are of a checkout."""

    @property
    def name(self) -> str:
        """The runner's name, as it is shown."""
        ...

    def detect(self, root: Path) -> Detected | None:
        """What is to be run in the checkout at ``root``; None where this is not its runner."""
        ...

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """The ids of the tests that failed in a run of the suite, in order, each once.

        Empty where none failed or this runner's output does not name them.
        """
        ...

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The command that runs one test; the whole suite where one cannot be run alone."""
        ...


@runtime_checkable
class BuildsOne(Protocol):
    """A runner that can build what one test needs without all the others."""

    def one_build(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The command that builds what one test needs."""
        ...


@runtime_checkable
class WritesReport(Protocol):
    """A runner that writes into a file what became of each test, and what it said."""

    def written_reports(
        self, result: ProcessResult, command: Sequence[str], folder: Path
    ) -> tuple[TestReport, ...]:
        """What the run of ``command`` in ``folder`` wrote, just now; () where it wrote no such file."""
        ...


@runtime_checkable
class NamesFiles(Protocol):
    """A runner that names a file of tests in place of what is in it, where it cannot be loaded."""

    def is_unread(self, detected: Detected, test_id: str, said: str) -> bool:
        """Whether a failed test is such a file; ``said`` is what its runner told of it."""
        ...


@runtime_checkable
class NamesTests(Protocol):
    """A runner whose tests stand in files."""

    def name_in(self, detected: Detected, file: str, inside: Sequence[str]) -> str:
        """The id of what is ``inside`` a file of the checkout, outermost first; of all of it."""
        ...
