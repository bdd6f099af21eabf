"""Jobs on this machine: a thread a slot, and the slots taken in turn."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from afterd.execution.executors.protocol import Attempt, Job
from afterd.execution.executors.workbench import Workbench
from afterd.execution.rerunning import Reruns
from afterd.vcs.worktree import Slot


class LocalExecutor:
    """Runs jobs in ``slots``, each by one thread at a time; the slots are the executor's alone.

    A slot that holds the job's tree already is taken first, then the one used last: its tree is
    likely to be the nearest, and what differs is what is built.
    """

    def __init__(
        self, slots: Sequence[Slot], scratch: Path | None = None, reruns: Reruns | None = None
    ) -> None:
        self._cancelled = threading.Event()
        self._reruns = reruns or Reruns()
        self._free = [Workbench(slot, scratch, self._cancelled, self._reruns) for slot in slots]
        self._turn = threading.Condition()
        self._pool = ThreadPoolExecutor(len(slots), thread_name_prefix="afterd-slot")
        self._width = len(slots)

    @property
    def width(self) -> int:
        """How many slots there are."""
        return self._width

    def submit(self, job: Job) -> Future[Attempt]:
        """Start ``job`` in the next free slot."""
        return self._pool.submit(self._attempt, job)

    def close(self) -> None:
        """End runs that are under way and wait for their threads."""
        self._cancelled.set()
        self._reruns.close()
        self._pool.shutdown(wait=True, cancel_futures=True)

    @contextmanager
    def workbench(self, tree: str = "") -> Iterator[Workbench]:
        """A free slot to do something in that is not a job: tracing, listing failing tests."""
        with self._turn:
            self._turn.wait_for(lambda: self._free)
            taken = next((bench for bench in self._free if bench.slot.tree == tree), self._free[-1])
            self._free.remove(taken)
        try:
            yield taken
        finally:
            with self._turn:
                self._free.append(taken)
                self._turn.notify()

    def _attempt(self, job: Job) -> Attempt:
        with self.workbench(job.tree) as bench:
            return bench.attempt(job)
