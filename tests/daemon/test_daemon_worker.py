"""How a job ends: what stands in the way, how long it waits, and what a stopped daemon does."""

from __future__ import annotations

import fcntl
import gc
import os
import threading
import time
from pathlib import Path

import pytest
from daemon_repositories import (
    TEXT,
    commit,
    git,
    jobs,
    made,
    once,
    opened,
    service,
    settings,
    verdicts,
)

from afterd.bench.small_disk import filled_disk, small_disk, top_up
from afterd.config import Budget
from afterd.config.kinds import Hours
from afterd.daemon import worker
from afterd.daemon.spending import DAY, pause
from afterd.errors import RepositoryError, SandboxError, SpaceError
from afterd.store.database import DATABASE_NAME
from afterd.store.jobs import JobQueue
from afterd.vcs.repository import open_repository


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return made(tmp_path / "r")


def waiting(where: Path) -> dict[str, object]:
    with opened(where) as reader:
        [row] = reader.rows("SELECT state, reason, stalls, not_before FROM job")
        return dict(row)


def test_a_busy_repository_is_tried_again(where: Path) -> None:
    with service(where) as found:
        found.look()
        with (found.state / "slots.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            assert found.work()
        row = waiting(where)
        assert (row["state"], row["stalls"]) == ("queued", 0)
        assert "at work" in str(row["reason"])
        assert not found.work()


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (SpaceError("No space is left."), "queued"),
        (SandboxError("Nothing holds a program here."), "queued"),
        (RepositoryError("The commit is gone."), "failed"),
        (ZeroDivisionError("a bug"), "failed"),
    ],
)
def test_what_a_job_meets(
    where: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, state: str
) -> None:
    def meet(*_: object) -> None:
        raise error

    monkeypatch.setattr(worker, "examine", meet)
    with service(where) as found:
        found.look()
        assert found.work()
        row = waiting(where)
        assert row["state"] == state
        assert (float(str(row["not_before"])) > time.time() + 30) == (state == "queued")
        log = (found.state / "daemon.log").read_text()
    assert ("Traceback" in log) == isinstance(error, ZeroDivisionError)


def test_a_commit_that_is_gone_fails_with_a_sentence(where: Path) -> None:
    with service(where) as found:
        found.look()
        found.work()
        of = commit(where, {"text": "x\n"})
        found.look()
        git("reset", "-q", "--hard", "HEAD~1", cwd=where)
        (where / ".git/objects" / of[:2] / of[2:]).unlink()
        assert found.work()
        [row] = found.store.rows("SELECT state, reason FROM job WHERE key LIKE ?", (f"%{of}",))
    assert row["state"] == "failed"
    assert of in str(row["reason"])


def test_stopped_it_gives_the_job_back_at_once(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise SystemExit(143)

    monkeypatch.setattr(worker, "examine", stop)
    with service(where) as found:
        found.look()
        with pytest.raises(SystemExit):
            found.work()
        row = waiting(where)
        assert (row["state"], row["stalls"]) == ("queued", 0)


def test_a_job_of_a_dead_daemon_is_taken_over_at_once(where: Path) -> None:
    with service(where) as found:
        found.look()
        assert JobQueue(found.store).lease("dead", 3600) is not None
    with service(where) as found:
        assert found.work()
    assert [state for _, state in jobs(where)] == ["done"]


def test_a_heartbeat_renews_the_lease(where: Path) -> None:
    with service(where) as found:
        found.look()
        queue = JobQueue(found.store)
        found.worker.current = queue.lease("w", 1.0)
        found.worker.heartbeat()
        [row] = found.store.rows("SELECT lease_until FROM job")
        assert float(str(row["lease_until"])) > time.time() + 60
        found.worker.current = None
        found.worker.heartbeat()


def at(hour: int, minute: int = 0) -> float:
    return time.mktime((2026, 11, 21, hour, minute, 0, 0, 0, -1))


@pytest.mark.parametrize(("hour", "quiet"), [(21, False), (23, True), (6, True), (7, False)])
def test_quiet_hours(where: Path, hour: int, quiet: bool) -> None:
    wanted = settings(where, quiet_hours=Hours(22 * 60, 7 * 60))
    with service(where) as found:
        assert bool(pause(wanted, found.store, lambda: at(hour))) is quiet


def test_the_budget_of_a_day_holds_for_24_hours(where: Path) -> None:
    with service(where, day_budget=Budget(runs=1)) as found:
        found.look()
        assert found.work()
        commit(where, {"text": TEXT + "x"})
        found.look()
        assert not found.work()
        assert "24 hours" in found.paused
        assert not found.plan_self_check()
        tomorrow = time.time() + DAY + 1
        assert pause(found.settings, found.store, lambda: tomorrow) == ""
        assert found.work(always=True)


def test_a_repository_that_cannot_be_read_is_no_end(where: Path) -> None:
    with service(where) as found:
        head = where / ".git/HEAD"
        kept = head.read_text()
        head.unlink()
        assert not found.look()
        head.write_text(kept)
        assert found.look()
        assert "could not be looked at" in (found.state / "daemon.log").read_text()


def test_what_is_old_is_forgotten(where: Path) -> None:
    with service(where, retention_days=1) as found:
        found.look()
        found.work()
        old = found.state / "outgoing"
        old.mkdir()
        (old / "x.json").write_text("{}")
        os.utime(old / "x.json", (1, 1))
        with found.store.transaction() as database:
            for table in ("history", "verdict", "outcome", "job"):
                column = "updated" if table == "job" else "created"
                database.execute(f"UPDATE {table} SET {column} = 1")
        found.forget()
        for table in ("history", "outcome", "job", "run"):
            assert found.store.rows(f"SELECT count(*) AS n FROM {table}") == [{"n": 0}]
        assert not list(old.iterdir())


def test_jobs_leave_no_descriptor_and_no_thread_behind(where: Path) -> None:
    def held() -> tuple[int, int]:
        gc.collect()  # what tests before this one left is no job's
        return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()

    with service(where) as found:
        after = []
        for number in range(5):
            commit(where, {"text": f"{number}\n" if number % 2 else f"{TEXT}{number}"})
            found.look()
            assert found.work()
            after.append(held())
    assert after[-1] == after[0]


def test_the_log_shows_hostile_names_as_escapes(where: Path) -> None:
    with service(where) as found:
        found.log.info("ref %s", "refs/heads/\x1b[31mred\u202e")
        text = (found.state / "daemon.log").read_text()
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "red" in text


def test_nothing_of_the_users_is_touched(where: Path) -> None:
    (where / "untracked").write_text("mine\n")
    (where / "text").write_text("edited\n")
    before = (git("status", "--porcelain", cwd=where), (where / ".git/index").read_bytes())
    with service(where) as found:
        found.look()
        found.work()
    after = (git("status", "--porcelain", cwd=where), (where / ".git/index").read_bytes())
    assert after == before
    assert open_repository(where).head.shorthand == "main"


def test_a_disk_that_is_full_to_the_last_byte_is_outlived(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk(disk, 64 << 20) as mounted:
        if not mounted:
            pytest.skip("this user may not mount a tmpfs")
        where = made(disk / "r")
        with service(where) as found:
            found.look()
            assert found.work()
            red = commit(where, {"text": "x\n"})
            assert found.look()
            with filled_disk(disk):
                assert not found.work()
                top_up(disk)  # the reserve, which was given back
                assert not found.work()
                assert jobs(where)[-1] == (red, "queued")
            assert found.work()
            assert [each.kind for each in verdicts(where, red)] == ["caused"]


@pytest.mark.parametrize("left", [0, 4096, 60_000], ids=["empty", "one page", "half"])
def test_a_damaged_database_makes_no_verdict_wrong(where: Path, left: int) -> None:
    """What went with it is found again in git: a commit that is red is no older for that."""
    once(where)
    database = where / ".git/afterd" / DATABASE_NAME
    os.truncate(database, left)
    red = commit(where, {"text": "one\ntwo\n3\n", "other": "b\n"})
    once(where)
    [verdict] = verdicts(where, red)
    assert verdict.kind == "caused", verdict.reason
    log = (where / ".git/afterd/daemon.log").read_text()
    assert log.count("It is kept as afterd.db.damaged-") == 1
    later = commit(where, {"other": "c\n"})
    once(where)
    assert [(each.kind, each.base) for each in verdicts(where, later)] == [("already-red", red)]
    assert (where / ".git/afterd/daemon.log").read_text().count("It is kept as") == 1
