"""The queue: at least once, never for ever, and late workers change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from afterd.errors import StoreError
from afterd.limits import JOB
from afterd.store.database import open_store
from afterd.store.jobs import Job, JobQueue, JobState, find, unfinished_jobs


class Clock:
    """Time that the test moves, also backwards."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(tmp_path: Path, clock: Clock) -> Iterator[JobQueue]:
    with open_store(tmp_path / "afterd.db") as store:
        yield JobQueue(store, clock)


def leased(queue: JobQueue, worker: str = "w") -> Job:
    job = queue.lease(worker, 30)
    assert job is not None
    return job


def state(queue: JobQueue, job: Job) -> Job:
    return find(queue._store, job.id)


def test_a_job_from_queue_to_done(queue: JobQueue) -> None:
    identifier = queue.enqueue("k", "explain", '{"range": "a..b"}', trust="local")
    job = leased(queue)
    assert (job.id, job.key, job.kind, job.payload) == (
        identifier,
        "k",
        "explain",
        '{"range": "a..b"}',
    )
    assert (job.state, job.attempts, job.leased_by, job.trust) == (JobState.LEASED, 1, "w", "local")
    assert queue.lease("other", 30) is None
    assert queue.reach(job, "traced", '{"window": 3}')
    assert queue.complete(job)
    assert not queue.complete(job)
    ended = state(queue, job)
    assert (ended.state, ended.stage, ended.checkpoint) == (
        JobState.DONE,
        "traced",
        '{"window": 3}',
    )
    assert unfinished_jobs(queue._store) == []


def test_the_same_key_is_one_job_until_it_ends(queue: JobQueue) -> None:
    first = queue.enqueue("k", "explain", "1")
    assert queue.enqueue("k", "explain", "2") == first
    job = leased(queue)
    assert queue.enqueue("k", "explain", "3") == first
    assert queue.complete(job)
    assert queue.enqueue("k", "explain", "4") > first


def test_priority_then_age(queue: JobQueue) -> None:
    for key, priority in [("old", 0), ("new", 0), ("urgent", 5)]:
        queue.enqueue(key, "explain", "{}", priority=priority)
    assert [job.key for job in unfinished_jobs(queue._store)] == ["urgent", "old", "new"]
    assert [leased(queue).key for _ in range(3)] == ["urgent", "old", "new"]


def test_a_lease_ends_and_the_late_worker_changes_nothing(queue: JobQueue, clock: Clock) -> None:
    queue.enqueue("k", "explain", "{}")
    dead = leased(queue, "dead")
    assert queue.reach(dead, "built", "tree")
    clock.now += 31
    alive = leased(queue, "alive")
    assert (alive.id, alive.attempts, alive.stage, alive.checkpoint) == (
        dead.id,
        2,
        "built",
        "tree",
    )
    assert not queue.heartbeat(dead, 30)
    assert not queue.reach(dead, "traced")
    assert not queue.complete(dead)
    assert not queue.fail(dead, "late")
    assert not queue.postpone(dead, 5, "late")
    assert queue.complete(alive)


def test_the_same_worker_after_a_restart_has_another_lease(queue: JobQueue, clock: Clock) -> None:
    queue.enqueue("k", "explain", "{}")
    before = leased(queue)
    clock.now += 31
    after = leased(queue)
    assert not queue.complete(before)
    assert queue.complete(after)


def test_a_heartbeat_keeps_the_lease(queue: JobQueue, clock: Clock) -> None:
    queue.enqueue("k", "explain", "{}")
    job = leased(queue)
    for _ in range(5):
        clock.now += 20
        assert queue.heartbeat(job, 30)
        assert queue.lease("other", 30) is None


def test_a_job_that_kills_its_workers_is_abandoned(queue: JobQueue, clock: Clock) -> None:
    queue.enqueue("poison", "explain", "{}")
    for _ in range(JOB.attempts):
        job = leased(queue)
        clock.now += 31
    assert queue.lease("w", 30) is None
    ended = state(queue, job)
    assert ended.state is JobState.ABANDONED
    assert f"{JOB.attempts} attempts" in ended.reason


def test_postponed_is_not_an_attempt(queue: JobQueue, clock: Clock) -> None:
    queue.enqueue("k", "explain", "{}")
    for _ in range(JOB.attempts + 2):
        job = leased(queue)
        assert queue.postpone(job, 60, "no space left")
        assert queue.lease("w", 30) is None
        assert state(queue, job).reason == "no space left"
        clock.now += 60
    assert leased(queue).stalls == 1


def test_progress_starts_the_count_of_attempts_again(queue: JobQueue, clock: Clock) -> None:
    queue.enqueue("k", "explain", "{}")
    for number in range(3 * JOB.attempts):
        assert queue.reach(leased(queue), f"stage {number}")
        clock.now += 31
    assert leased(queue).attempts == 3 * JOB.attempts + 1


def test_a_waiting_job_is_leased_after_its_release_only(queue: JobQueue) -> None:
    waiting = queue.enqueue("k", "explain", "{}", trust="fork", waiting=True)
    assert queue.lease("w", 30) is None
    assert queue.enqueue("k", "explain", "{}", trust="local") == waiting
    assert queue.lease("w", 30) is None
    assert queue.release(waiting, "approved")
    assert not queue.release(waiting, "approved")
    assert leased(queue).trust == "approved"


def test_a_successor_takes_over_at_once(queue: JobQueue) -> None:
    queue.enqueue("k", "explain", "{}")
    dead = leased(queue)
    assert queue.lease("w", 30) is None
    assert queue.recover() == 1
    assert leased(queue).attempts == 2
    assert not queue.complete(dead)


def test_failed_and_abandoned_end_a_job(queue: JobQueue) -> None:
    queue.enqueue("a", "explain", "{}")
    job = leased(queue)
    assert queue.fail(job, "the build fails")
    assert state(queue, job).reason == "the build fails"
    other = queue.enqueue("b", "explain", "{}")
    assert queue.abandon(other, "superseded")
    assert not queue.abandon(other, "again")
    assert queue.lease("w", 30) is None


@pytest.mark.parametrize("jump", [-6 * 3600, 6 * 3600])
def test_a_clock_that_jumps_loses_no_job(queue: JobQueue, clock: Clock, jump: float) -> None:
    queue.enqueue("k", "explain", "{}")
    leased(queue)
    clock.now += jump
    taken = queue.lease("other", 30)
    clock.now -= jump
    clock.now += 61
    assert (taken is not None) == (jump > 0)
    assert len(unfinished_jobs(queue._store)) == 1
    clock.now += 6 * 3600
    assert queue.lease("third", 30) is not None


def test_no_such_job(queue: JobQueue) -> None:
    with pytest.raises(StoreError, match="no job 9"):
        find(queue._store, 9)
