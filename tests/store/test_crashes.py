"""SIGKILL at any moment, power loss in the write-ahead log, writers that meet (rows 1, 3, 11)."""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import shutil
import sqlite3
import sys
import time
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.forkserver import _forkserver
from pathlib import Path

import pytest
from explanation_samples import RUNNING_EXAMPLE

from afterd.errors import AfterdError
from afterd.store.database import connect, open_store
from afterd.store.explanations import listing, load, save
from afterd.store.jobs import JobQueue, JobState, find

KILLS = 30


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Its server has imported this module: else each process does, for a quarter of a second."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        _forkserver._stop()  # type: ignore[attr-defined] # another module's, of this process
        _forkserver.ensure_running()
    return context


def write_for_ever(path: Path, acknowledge: Connection) -> None:
    """Save explanations and finish jobs, telling of each transaction after its commit."""
    with open_store(path) as store:
        queue = JobQueue(store)
        while True:
            saved = save(store, "/git", RUNNING_EXAMPLE, lambda _: "{}")
            queue.enqueue(f"key{saved.id}", "explain", "{}")
            job = queue.lease("w", 0.0)
            done = job.id if job is not None and queue.complete(job) else 0
            acknowledge.send((saved.id, done))


def test_a_killed_writer_loses_nothing_it_acknowledged(
    tmp_path: Path, processes: ForkServerContext
) -> None:
    path = tmp_path / "afterd.db"
    acknowledged: list[tuple[int, int]] = []
    chance = random.Random(7)
    for _ in range(KILLS):
        receiver, sender = processes.Pipe(duplex=False)
        writer = processes.Process(target=write_for_ever, args=(path, sender))
        writer.start()
        sender.close()
        acknowledged.append(receiver.recv())
        time.sleep(chance.uniform(0, 0.03))
        writer.kill()
        writer.join()
        acknowledged += drained(receiver)
        with open_store(path) as store:
            assert store.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
            kept = {summary.id for summary in listing(store, 10**6)}
    assert {identifier for identifier, _ in acknowledged} <= kept
    assert len(acknowledged) >= KILLS
    with open_store(path) as store:
        assert all(load(store, identifier).root == RUNNING_EXAMPLE.root for identifier in kept)
        done = {identifier for _, identifier in acknowledged if identifier}
        assert len(done) >= KILLS
        assert {find(store, identifier).state for identifier in done} == {JobState.DONE}


def drained(receiver: Connection) -> list[tuple[int, int]]:
    """What was sent and not yet received; the last message may be cut short by the kill."""
    messages = []
    try:
        while receiver.poll():
            messages.append(receiver.recv())
    except (EOFError, OSError):
        pass
    return messages


def append_marks(path: Path, count: int) -> None:
    with open_store(path, patience=120) as store:
        for _ in range(count):
            with store.transaction() as database:
                [[number]] = database.execute("SELECT count(*) FROM repository").fetchall()
                database.execute("INSERT INTO repository (path) VALUES (?)", (f"r{number}",))


def test_writers_wait_for_each_other(tmp_path: Path, processes: ForkServerContext) -> None:
    """Read, then write, in one transaction: without turns a number would be given out twice."""
    path = tmp_path / "afterd.db"
    writers = [processes.Process(target=append_marks, args=(path, 30)) for _ in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 8
    with open_store(path) as store:
        assert store.rows("SELECT count(*) AS n FROM repository") == [{"n": 240}]
        assert store.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]


def save_under_a_quota(path: Path, answer: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    with open_store(path) as store:
        try:
            for _ in range(200):
                save(store, "/git", RUNNING_EXAMPLE, lambda _: "{}" * 5000)
        except AfterdError as error:
            answer.send((str(error), store.rows("PRAGMA integrity_check")))


def test_a_disk_that_refuses_is_another_sentence(
    tmp_path: Path, processes: ForkServerContext
) -> None:
    path = tmp_path / "afterd.db"
    receiver, sender = processes.Pipe(duplex=False)
    writer = processes.Process(target=save_under_a_quota, args=(path, sender))
    writer.start()
    sender.close()
    sentence, check = receiver.recv()
    writer.join()
    assert "The disk failed" in sentence
    assert check == [{"integrity_check": "ok"}]
    with open_store(path) as store:
        assert all(load(store, summary.id).root for summary in listing(store))


def log_without_checkpoint(uri: str) -> sqlite3.Connection:
    connection = connect(uri)
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    return connection


def photographed(folder: Path) -> tuple[Path, int]:
    """A database whose last 20 transactions are only in its log, and the log's length."""
    path = folder / "afterd.db"
    open_store(path).close()
    with open_store(path, connect=log_without_checkpoint) as store:
        for number in range(20):
            with store.transaction() as database:
                for part in ("a", "b"):
                    database.execute(
                        "INSERT INTO repository (path) VALUES (?)", (f"{number}{part}",)
                    )
        shutil.copytree(
            folder, folder / "photo", ignore=shutil.ignore_patterns("*-shm", "*.reserve")
        )
    return folder / "photo" / "afterd.db", (folder / "photo" / "afterd.db-wal").stat().st_size


@pytest.mark.parametrize("damage", ["truncated", "garbled"])
def test_a_torn_log_keeps_whole_transactions_in_order(tmp_path: Path, damage: str) -> None:
    photo, length = photographed(tmp_path)
    log = photo.with_name("afterd.db-wal").read_bytes()
    chance = random.Random(damage)
    for cut in sorted(chance.randrange(length) for _ in range(50)):
        folder = tmp_path / f"cut{cut}"
        folder.mkdir()
        path = folder / "afterd.db"
        shutil.copy(photo, path)
        tail = b"" if damage == "truncated" else chance.randbytes(len(log) - cut)
        path.with_name("afterd.db-wal").write_bytes(log[:cut] + tail)
        with open_store(path) as store:
            assert store.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
            rows = [row["path"] for row in store.rows("SELECT path FROM repository ORDER BY id")]
        shutil.rmtree(folder)
        assert len(rows) % 2 == 0
        assert rows == [f"{number}{part}" for number in range(len(rows) // 2) for part in "ab"]
