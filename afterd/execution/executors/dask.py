"""Jobs on a Dask cluster; outcomes come back into the one store of this machine.

A worker that is lost costs its run: Dask gives the job to another. What is not a job (tracing,
listing tests) is done in slots of this machine.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pygit2
from distributed import Client, KilledWorker

from afterd.errors import AfterdError, SandboxError
from afterd.execution.executors.dask_worker import Slots, attempt
from afterd.execution.executors.local import LocalExecutor
from afterd.execution.executors.protocol import Attempt, Job
from afterd.execution.executors.workbench import Workbench
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.vcs.object_store import tree_pack

CONNECT = 15.0  # seconds in which a scheduler answers, and has a worker
_ALONE = 60.0  # seconds without any worker after which the runs under way are given up
_LOOK = 2.0


class DaskExecutor:
    """Runs jobs on the workers of the scheduler at ``address``; ``local`` lends the slots here.

    ``objects`` is the repository that every tree can be read from. Raises SandboxError when there is
    no scheduler or no worker.
    """

    def __init__(self, address: str, objects: Path, local: LocalExecutor) -> None:
        self._address = address
        self._local = local
        self._objects = pygit2.Repository(objects)
        self._turn = threading.Lock()  # of the repository handle and of what follows
        self._base = ""
        self._session = f"afterd-{uuid.uuid4().hex[:12]}"
        self._under_way: dict[Future[Attempt], Any] = {}
        self._closed = threading.Event()
        self._client = self._connected()
        threading.Thread(target=self._watch, name="afterd-workers", daemon=True).start()

    @property
    def width(self) -> int:
        """How many threads the workers have now."""
        threads: dict[str, int] = self._client.ncores()
        return max(1, sum(threads.values()))

    def submit(self, job: Job) -> Future[Attempt]:
        """Send the job, and what its tree has beyond the one that was sent first."""
        answer: Future[Attempt] = Future()
        with self._turn:
            self._send_base(job.tree)
            beyond = tree_pack(self._objects, job.tree, self._base)
            with self._explained():
                remote = self._client.submit(attempt, self._session, job, beyond, pure=False)
            self._under_way[answer] = remote
        remote.add_done_callback(lambda ended: self._settle(answer, ended))
        return answer

    @contextmanager
    def workbench(self, tree: str = "") -> Iterator[Workbench]:
        """A free slot of this machine."""
        with self._local.workbench(tree) as bench:
            yield bench

    def close(self) -> None:
        """End the runs under way on the workers, take the slots from them, and disconnect.

        The local slots are left to their owner.
        """
        self._closed.set()
        with suppress(Exception):  # a scheduler that is gone has nothing to give back
            self._client.cancel(list(self._under_way.values()), force=True)
            if self._base:
                self._client.unregister_worker_plugin(self._session)
        self._client.close(timeout=CONNECT)

    def _send_base(self, tree: str) -> None:
        """Send a whole tree to every worker, once; those that join later get it too."""
        if self._base:
            return
        base = tree_pack(self._objects, tree)
        with self._explained():
            self._client.register_plugin(Slots(self._session, base), name=self._session)
        self._base = tree

    def _connected(self) -> Client:
        with self._explained():
            client = Client(self._address, timeout=CONNECT, set_as_default=False, name="afterd")
        try:
            client.wait_for_workers(1, timeout=CONNECT)
        except Exception as error:  # distributed's own TimeoutError, of one module or another
            client.close()
            message = f"The Dask scheduler at {self._address} has no workers; start some."
            raise SandboxError(message) from error
        return client

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """What distributed raises, as a sentence."""
        try:
            yield
        except AfterdError:
            raise
        except Exception as error:  # it raises its own, the network's and pickle's
            raise SandboxError(
                f"The Dask cluster at {self._address} cannot be used ({_error_words(error)}); its scheduler"
                " must be running, and its workers must have this version of afterd."
            ) from error

    def _settle(self, answer: Future[Attempt], ended: Any) -> None:  # noqa: ANN401 - distributed has no types
        """Hand the outcome of a task to whoever waits for it."""
        with self._turn:
            if self._under_way.pop(answer, None) is None:
                return  # it was given up
        try:
            with self._explained():
                answer.set_result(ended.result())
        except SandboxError as error:
            if isinstance(error.__cause__, KilledWorker):
                answer.set_result(_killed_attempt())
            else:
                answer.set_exception(error)
        except AfterdError as error:
            answer.set_exception(error)

    def _watch(self) -> None:
        """Give up what is under way when there are no workers any more: Dask waits for ever."""
        seen = time.monotonic()
        while not self._closed.wait(_LOOK):
            if self._client.status == "running" and self._client.scheduler_info()["workers"]:
                seen = time.monotonic()
            elif time.monotonic() - seen > _ALONE:
                with self._turn:
                    given_up, self._under_way = self._under_way, {}
                for answer in given_up:
                    message = f"The Dask cluster at {self._address} has no workers any more."
                    answer.set_exception(SandboxError(message))


def _killed_attempt() -> Attempt:
    """Of a job that took several workers with it nothing is known."""
    detail = "the workers that ran it died"
    return Attempt(Outcome(Verdict.UNRESOLVED, Unresolved.LOST, detail), lasting=False, tests=1)


def _error_words(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
