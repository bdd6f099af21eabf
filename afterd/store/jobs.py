"""The durable job queue: at least once, and never for ever.

A job is (waiting →) queued → leased → done | failed | abandoned. A job of unknown origin waits
until a person approves its commit. A lease ends by itself unless its worker renews it, so a worker
killed at any moment gives its job back; after ``JOB.attempts`` leases in a row that reached nothing a
job is abandoned, so that a commit that kills its worker cannot loop. The number of the attempt is a
fencing token: a worker whose lease was taken over can no longer change the job (its calls answer
False), which makes a completion that arrives twice, or late, harmless. ``clock`` is a parameter
because clocks jump; see the tests.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from afterd.errors import StoreError
from afterd.limits import JOB
from afterd.store.database import Reader, Store
from afterd.store.rows import from_row
from afterd.store.text import Cell, stored_text

if TYPE_CHECKING:
    from sqlite_utils import Database

UNFINISHED = "('waiting', 'queued', 'leased')"


class JobState(StrEnum):
    """Where a job is."""

    WAITING = "waiting"  # for a person's approval
    QUEUED = "queued"
    LEASED = "leased"
    DONE = "done"
    FAILED = "failed"  # it ended with a reason that trying again would not change
    ABANDONED = "abandoned"  # given up: it reached nothing, or a person said so, or superseded


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it was read; ``payload`` and ``checkpoint`` are JSON texts of the caller's."""

    id: int
    key: str
    kind: str
    payload: str
    trust: str
    priority: int
    state: JobState
    attempts: int
    not_before: float
    leased_by: str
    lease_until: float
    stage: str
    checkpoint: str
    reason: str
    stalls: int
    created: float


class JobQueue:
    """The jobs of one store."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock

    def enqueue(
        self,
        key: str,
        kind: str,
        payload: str,
        *,
        trust: str = "",
        priority: int = 0,
        waiting: bool = False,
    ) -> int:
        """The id of the unfinished job with this key: the one there is, or a new one.

        A job that is ``waiting`` is not leased before ``release``.
        """
        now = self._clock()
        state = JobState.WAITING if waiting else JobState.QUEUED
        with self._store.transaction() as database:
            database.execute(
                """INSERT INTO job (key, kind, payload, trust, priority, state, attempts,
                       not_before, leased_by, lease_until, stage, checkpoint, reason,
                       created, updated)
                   VALUES (?, ?, ?, ?, ?, ?, 0, 0, '', 0, '', '', '', ?, ?)
                   ON CONFLICT (key) WHERE state IN ('waiting', 'queued', 'leased') DO NOTHING""",
                (
                    stored_text(key),
                    kind,
                    stored_text(payload),
                    trust,
                    priority,
                    state.value,
                    now,
                    now,
                ),
            )
            found = database.execute(
                f"SELECT id FROM job WHERE key = ? AND state IN {UNFINISHED}",  # noqa: S608 - our own words
                (stored_text(key),),
            )
            return int(found.fetchone()[0])

    def release(self, identifier: int, trust: str) -> bool:
        """Let a waiting job be leased, under another trust; False when it does not wait."""
        with self._store.transaction() as database:
            changed = database.execute(
                "UPDATE job SET state = 'queued', trust = ?, updated = ? "
                "WHERE id = ? AND state = 'waiting'",
                (trust, self._clock(), identifier),
            )
            return changed.rowcount == 1

    def recover(self) -> int:
        """End every lease: whoever calls this knows that their workers are dead. How many."""
        with self._store.transaction() as database:
            return database.execute(
                "UPDATE job SET lease_until = 0 WHERE state = 'leased'"
            ).rowcount

    def lease(self, worker: str, seconds: float) -> Job | None:
        """Take the next job for so many seconds: highest priority first, then oldest."""
        now = self._clock()
        with self._store.transaction() as database:
            _abandon_worn_out(database, now)
            row = database.execute(
                """SELECT id FROM job
                   WHERE state = 'queued' AND not_before <= :now
                      OR state = 'leased' AND lease_until <= :now
                   ORDER BY priority DESC, id LIMIT 1""",
                {"now": now},
            ).fetchone()
            if row is None:
                return None
            database.execute(
                """UPDATE job SET state = 'leased', attempts = attempts + 1,
                       stalls = stalls + 1, leased_by = ?, lease_until = ?, updated = ?
                   WHERE id = ?""",
                (stored_text(worker), now + seconds, now, row[0]),
            )
            return find(self._store, int(row[0]))

    def heartbeat(self, job: Job, seconds: float) -> bool:
        """Renew the lease; False when it was lost."""
        return self._update(job, lease_until=self._clock() + seconds)

    def reach(self, job: Job, stage: str, checkpoint: str = "") -> bool:
        """Record that a stage is done and what it knows; False when the lease was lost.

        That is progress: the attempts that ended before it no longer count against the job.
        """
        return self._update(job, stage=stage, checkpoint=stored_text(checkpoint), stalls=1)

    def advance(self, job: Job) -> bool:
        """Record that a part of a stage is kept elsewhere: progress, as ``reach`` is."""
        return self._update(job, stalls=1)

    def complete(self, job: Job) -> bool:
        """The job is done; False when the lease was lost, and another worker has it."""
        return self._update(job, state=JobState.DONE.value, leased_by="")

    def fail(self, job: Job, reason: str) -> bool:
        """The job ended and trying again would not help; False when the lease was lost."""
        return self._update(
            job, state=JobState.FAILED.value, leased_by="", reason=stored_text(reason)
        )

    def postpone(self, job: Job, seconds: float, reason: str, *, attempted: bool = False) -> bool:
        """Give the job back for later (no space, quiet hours), which counts as an attempt if it ``attempted``."""
        spared: dict[str, Cell] = {} if attempted else {"stalls": job.stalls - 1}
        return self._update(
            job,
            state=JobState.QUEUED.value,
            not_before=self._clock() + seconds,
            leased_by="",
            reason=stored_text(reason),
            **spared,
        )

    def abandon(self, identifier: int, reason: str) -> bool:
        """Give a job up, whoever holds it; False when it had ended already."""
        with self._store.transaction() as database:
            changed = database.execute(
                """UPDATE job SET state = 'abandoned', leased_by = '', reason = ?, updated = ?
                   WHERE id = ? AND state IN ('waiting', 'queued', 'leased')""",
                (stored_text(reason), self._clock(), identifier),
            )
            return changed.rowcount == 1

    def _update(self, job: Job, **columns: Cell) -> bool:
        """Change a job while its lease is held: same worker, same attempt."""
        names = ", ".join(f"{name} = :{name}" for name in columns)
        with self._store.transaction() as database:
            changed = database.execute(
                f"UPDATE job SET {names}, updated = :now WHERE id = :id AND state = 'leased' "  # noqa: S608 - our own column names
                "AND leased_by = :worker AND attempts = :attempt",
                columns
                | {
                    "now": self._clock(),
                    "id": job.id,
                    "worker": stored_text(job.leased_by),
                    "attempt": job.attempts,
                },
            )
            return changed.rowcount == 1


def find(reader: Reader, identifier: int) -> Job:
    """The job with this id; raises StoreError when there is none."""
    rows = reader.rows("SELECT * FROM job WHERE id = ?", (identifier,))
    if not rows:
        raise StoreError(f"There is no job {identifier} in {reader.path}.")
    return from_row(Job, rows[0])


def unfinished_jobs(reader: Reader) -> list[Job]:
    """The jobs that wait, are queued or leased, in the order they are leased."""
    with reader.snapshot():
        rows = reader.rows(
            f"SELECT * FROM job WHERE state IN {UNFINISHED} ORDER BY priority DESC, id"  # noqa: S608 - our own words
        )
        return [from_row(Job, row) for row in rows]


def _abandon_worn_out(database: Database, now: float) -> None:
    database.execute(
        """UPDATE job SET state = 'abandoned', updated = :now, leased_by = '',
               reason = 'its worker died in each of ' || stalls || ' attempts'
           WHERE state = 'leased' AND lease_until <= :now AND stalls >= :most""",
        {"now": now, "most": JOB.attempts},
    )
