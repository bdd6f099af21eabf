"""What the replayed day asks a daemon's database."""

from __future__ import annotations

from pathlib import Path

import pygit2

from afterd.bench.day_people import People
from afterd.bench.day_prices import Prices
from afterd.bench.day_record import Record
from afterd.store.database import open_store
from afterd.store.jobs import JobQueue


def test_a_job_that_waits_for_its_time_is_no_daemon_that_stands_still(tmp_path: Path) -> None:
    """What was killed each time is taken up again after ten minutes: the day was given up before."""
    repository = tmp_path / "prices.git"
    pygit2.init_repository(repository, bare=True)
    record = Record(People(Prices(), repository, 1), repository)
    assert not record.held_back()
    record.database.parent.mkdir()
    with open_store(record.database) as store:
        queue = JobQueue(store)
        queue.enqueue("commit:a", "commit", "{}")
        assert record.to_do() == 1
        assert not record.held_back()
        job = queue.lease("worker", 60.0)
        assert job is not None
        assert not record.held_back()
        queue.postpone(job, 600.0, "its run was killed each time")
        assert record.held_back()
        assert record.unfinished() == ["commit:a is queued (its run was killed each time)"]
        queue.enqueue("self-check:9", "self-check", "{}")
        assert len(record.unfinished()) == 1, "idle work is under way whenever a day ends"
