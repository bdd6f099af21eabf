"""A person lets the tests of one commit run."""

from __future__ import annotations

from afterd.daemon.arrivals import key_of
from afterd.daemon.trust import Trust
from afterd.store import Store
from afterd.store.jobs import JobQueue, unfinished_jobs
from afterd.store.repositories import approve as keep_approval


def approve(store: Store, commit: str) -> bool:
    """Approve a commit; whether a job of it waited, and is in the queue now."""
    with store.transaction():
        keep_approval(store, commit)
        queue = JobQueue(store)
        return any(
            queue.release(job.id, Trust.APPROVED.value)
            for job in unfinished_jobs(store)
            if job.key == key_of(commit)
        )
