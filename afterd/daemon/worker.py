"""One job at a time: leased, done, and ended in the way that fits what came of it."""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field

from afterd.config import Settings
from afterd.daemon.arrivals import COMMIT
from afterd.daemon.examination import Examined, examine
from afterd.daemon.outbox import put_out, verdict_of
from afterd.daemon.self_check import SELF_CHECK, check
from afterd.errors import (
    AfterdError,
    BusyError,
    LostRunError,
    SandboxError,
    SpaceError,
    StoreError,
)
from afterd.limits import JOB
from afterd.model.change import ChangeId, ChangeSet
from afterd.model.outcome import Outcome
from afterd.model.progress import Signs
from afterd.report.verdicts import summed_up
from afterd.store import Store
from afterd.store.jobs import Job, JobQueue

_CHECKED = {
    True: "it holds",
    False: "it does not hold any more",
    None: "a run gave no verdict, so nothing is known",
}


@dataclass(slots=True)
class Worker:
    """Does the jobs of one repository, one after the other. ``current`` is the one under way."""

    settings: Settings
    store: Store
    log: logging.Logger
    posting: bool = False
    current: Job | None = field(default=None, init=False)

    def work(self) -> bool:
        """Do the next job; False when there is none.

        A job that was stopped (SystemExit, Ctrl-C) goes back into the queue, and the exception on.
        """
        queue = JobQueue(self.store)
        job = queue.lease(f"daemon {os.getpid()}", JOB.lease)
        if job is None:
            return False
        self.current = job
        try:
            self._do(queue, job)
        except (SystemExit, KeyboardInterrupt):
            queue.postpone(job, 0.0, "the daemon was stopped")
            raise
        finally:
            self.current = None
        return True

    def heartbeat(self) -> None:
        """Renew the lease of the job under way; called from another thread."""
        job = self.current
        if job is not None and not JobQueue(self.store).heartbeat(job, JOB.lease):
            self.log.info("job %d was given up while it ran", job.id)

    def _do(self, queue: JobQueue, job: Job) -> None:
        self.log.info("job %d: %s (attempt %d)", job.id, job.key, job.attempts)
        try:
            self._done(queue, job)
        except BusyError as error:
            self._postpone(queue, job, JOB.busy, error)
        except (SpaceError, StoreError) as error:
            self._postpone(queue, job, JOB.full, error)
        except SandboxError as error:
            self._postpone(queue, job, JOB.unheld, error)
        except LostRunError as error:
            wait = JOB.lost[min(job.stalls, len(JOB.lost)) - 1]
            queue.postpone(job, wait, str(error), attempted=True)
            self._tell_wait(job, wait, error)
        except AfterdError as error:
            queue.fail(job, str(error))
            self.log.warning("job %d failed: %s", job.id, error)
        except Exception as error:  # noqa: BLE001 - one job's bug must not end the daemon
            queue.fail(job, f"a bug of afterd's: {type(error).__name__}")
            self.log.error("job %d met a bug:\n%s", job.id, traceback.format_exc())  # noqa: TRY400 - formatted here so that it is masked

    def _done(self, queue: JobQueue, job: Job) -> None:
        if job.kind == COMMIT:
            examined = examine(self.settings, self.store, job, Narrator(self.log))
            with self.store.transaction():
                if self.posting:
                    put_out(self.settings, self.store, examined)
                queue.complete(job)
            self._say(examined)
        elif job.kind == SELF_CHECK:
            seen = check(self.settings, self.store, job)
            self.log.info("explanation %d, run again: %s", seen.explanation_id, _CHECKED[seen.held])
        else:
            queue.fail(job, f"there is no work of the kind {job.kind}")

    def _say(self, examined: Examined) -> None:
        said = summed_up([verdict_of(verdict) for verdict in examined.verdicts])
        self.log.info("commit %s: %s", examined.wanted.commit[:12], said)

    def _postpone(self, queue: JobQueue, job: Job, seconds: float, error: AfterdError) -> None:
        queue.postpone(job, seconds, str(error))
        self._tell_wait(job, seconds, error)

    def _tell_wait(self, job: Job, seconds: float, error: AfterdError) -> None:
        self.log.warning("job %d waits %g s: %s", job.id, seconds, error)


@dataclass(frozen=True, slots=True)
class Narrator:
    """Writes the progress of a job into the log."""

    log: logging.Logger

    def stage(self, name: str, detail: str = "") -> None:
        """A stage began."""
        self.log.info("%s %s", name, detail)

    def tried(self, reverted: ChangeSet, outcome: Outcome, runs: int) -> None:
        """A variant was tried."""
        self.log.info("run %d: %d changes reverted: %s", runs, len(reverted), outcome.verdict)

    def built(self, reverted: ChangeSet, *, ok: bool) -> None:
        """A variant was built: not worth a line."""

    def counted(self, done: int, found: int, red: int) -> None:
        """How far a suite is: not worth a line."""

    def advanced(self, done: int, what: str) -> None:
        """How far a stage is: not worth a line."""

    def suspects(self, signs: Mapping[ChangeId, Signs]) -> None:
        """The changes under suspicion: not in a log."""
