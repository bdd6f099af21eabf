"""An executor whose runs are written down, so that a process that was killed repeats at most one.

Asked for the same runs in the same order, a resumed job is answered from its journal until it comes
to the run that was under way. The n-th run of the same thing is told from the others by its number:
a confirmation asks for one tree several times, and means it.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Protocol

from afterd.execution.cache import OutcomeCache, OutcomeKey, key_of_build, key_of_test
from afterd.execution.executors.chosen import BenchExecutor
from afterd.execution.executors.protocol import Attempt, Job
from afterd.execution.executors.workbench import Workbench
from afterd.model.outcome import Outcome


class Journal(Protocol):
    """Keeps the runs of one piece of work; called from several threads."""

    @property
    def work(self) -> str:
        """The name of that piece of work, the same after a kill."""
        ...

    def get(self, key: OutcomeKey, number: int) -> Attempt | None:
        """The ``number``-th run under ``key``, if it was made before."""
        ...

    def put(self, key: OutcomeKey, number: int, attempt: Attempt) -> None:
        """Keep a run that ended."""
        ...


class JournalledExecutor:
    """Asks a journal before the executor behind it, and tells it afterwards."""

    def __init__(self, behind: BenchExecutor, journal: Journal) -> None:
        self._behind = behind
        self._journal = journal
        self._asked: Counter[OutcomeKey] = Counter()
        self._turn = threading.Lock()

    @property
    def width(self) -> int:
        """How many jobs can be under way at once."""
        return self._behind.width

    def submit(self, job: Job) -> Future[Attempt]:
        """The run as it was made before, or a new one."""
        key = (key_of_build if job.build_only else key_of_test)(job.recipe, job.tree)
        with self._turn:
            number = self._asked[key]
            self._asked[key] += 1
        known = self._journal.get(key, number)
        answer: Future[Attempt] = Future()
        if known is not None:
            answer.set_result(known)
            return answer

        def keep(ended: Future[Attempt]) -> None:
            """Written down before anybody hears of it."""
            try:
                attempt = ended.result()
                if attempt.ended:
                    self._journal.put(key, number, attempt)
                answer.set_result(attempt)
            except BaseException as error:  # noqa: BLE001 - handed to whoever waits for the run
                answer.set_exception(error)

        self._behind.submit(job).add_done_callback(keep)
        return answer

    def replays(self, key: OutcomeKey) -> bool:
        """Whether the next run under ``key`` would be answered by the journal."""
        with self._turn:
            number = self._asked[key]
        return self._journal.get(key, number) is not None

    @contextmanager
    def workbench(self, tree: str = "") -> Iterator[Workbench]:
        """A free slot for what is not a job, and is not written down."""
        with self._behind.workbench(tree) as bench:
            yield bench

    def close(self) -> None:
        """End what is under way."""
        self._behind.close()


class JournalFirst:
    """Outcomes kept between sessions, without those that this very job put there before a kill.

    From the cache it would take the outcome of a run for granted that it asked for the first time,
    and the journal would give that run for the one that was to verify it.
    """

    def __init__(self, cache: OutcomeCache, executor: JournalledExecutor) -> None:
        self._cache = cache
        self._executor = executor

    def get(self, key: OutcomeKey) -> Outcome | None:
        """The outcome under ``key``, unless the journal has the run that would tell it."""
        return None if self._executor.replays(key) else self._cache.get(key)

    def put(self, key: OutcomeKey, outcome: Outcome) -> None:
        """Keep ``outcome``."""
        self._cache.put(key, outcome)
