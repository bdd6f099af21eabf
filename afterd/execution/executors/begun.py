"""Jobs that are begun before they are asked for, beside what has to be known first."""

from __future__ import annotations

import dataclasses
from concurrent.futures import Future
from contextlib import AbstractContextManager

from afterd.execution.executors.chosen import BenchExecutor
from afterd.execution.executors.protocol import Attempt, Job
from afterd.execution.executors.workbench import Workbench


class BegunFirst:
    """An executor that gives what was begun to the first who asks for that job, and runs all others.

    What was begun and is not asked for is ended with the executor.
    """

    def __init__(self, behind: BenchExecutor) -> None:
        self._behind = behind
        self._begun: list[tuple[Job, Future[Attempt]]] = []

    @property
    def width(self) -> int:
        """How many jobs can be under way at once."""
        return self._behind.width

    def begin(self, job: Job) -> None:
        """Start ``job``; what is left of the budget when it is asked for bounds it no more."""
        self._begun.append((job, self._behind.submit(job)))

    def submit(self, job: Job) -> Future[Attempt]:
        """The attempt that was begun, once; else a new one."""
        for number, (begun, attempt) in enumerate(self._begun):
            if begun == dataclasses.replace(job, seconds=begun.seconds):
                del self._begun[number]
                return attempt
        return self._behind.submit(job)

    def workbench(self, tree: str = "") -> AbstractContextManager[Workbench]:
        """A free slot of this machine."""
        return self._behind.workbench(tree)

    def close(self) -> None:
        """End what is under way."""
        self._behind.close()
