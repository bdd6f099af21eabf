"""What sets the daemon going: file events, or polling where the system has none to give."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path

import pytest
from apscheduler.schedulers.background import BackgroundScheduler
from daemon_repositories import TEXT, commit, git, jobs, made, service
from watchdog.observers import Observer

from afterd.daemon import triggers
from afterd.daemon.triggers import running_triggers
from afterd.errors import SpaceError

PATIENCE = 60.0
NEVER = 3600.0


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return made(tmp_path / "r")


@pytest.fixture(autouse=True)
def unpickled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the daemon is kept in a form that runs code when it is read (CVE-2026-31072)."""

    def refuse(*_: object) -> None:
        raise AssertionError("a pickle was read")

    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr(pickle, "load", refuse)


@pytest.mark.parametrize("way", ["loose ref", "packed refs", "hook's inbox"])
def test_a_file_event_is_enough(where: Path, way: str) -> None:
    with service(where, poll=NEVER) as found:
        found.look()
        found.work()
        wake = threading.Event()
        if way == "hook's inbox":
            git("checkout", "-q", "--detach", cwd=where)
        with running_triggers([found], wake):
            of = commit(where, {"text": TEXT + "x"})
            if way == "packed refs":
                assert wake.wait(PATIENCE)
                wake.clear()
                git("branch", "topic", cwd=where)
                of = git("commit-tree", "-m", "p", "-p", of, f"{of}^{{tree}}", cwd=where)
                git("update-ref", "refs/heads/topic", of, cwd=where)
                git("pack-refs", "--all", cwd=where)
            if way == "hook's inbox":
                (found.state / "inbox" / of).touch()
            assert wake.wait(PATIENCE)
    assert jobs(where)[-1][0] == of


class Exhausted(Observer):  # type: ignore[misc, valid-type] # watchdog chooses the class at run time
    """As where the user's inotify watches are used up."""

    def start(self) -> None:
        raise OSError(28, "inotify watch limit reached")


def test_polling_is_what_is_left(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triggers, "Observer", Exhausted)
    with service(where, poll=0.2) as found:
        found.look()
        found.work()
        wake = threading.Event()
        with running_triggers([found], wake):
            of = commit(where, {"text": TEXT + "x"})
            assert wake.wait(PATIENCE)
    assert jobs(where)[-1] == (of, "queued")


def test_no_call_is_dropped_for_being_late() -> None:
    """APScheduler's own default is to drop what is a second late."""
    made_with = triggers.Triggers([], threading.Event())
    scheduler: BackgroundScheduler = made_with._scheduler
    made_with.every(NEVER, lambda: None)
    scheduler.start(paused=True)
    try:
        [job] = scheduler.get_jobs()
        assert (job.misfire_grace_time, job.coalesce, job.max_instances) == (None, True, 1)
    finally:
        scheduler.shutdown()


def test_a_full_disk_is_a_line_of_the_log(where: Path, caplog: pytest.LogCaptureFixture) -> None:
    """APScheduler wrote a traceback of fifty lines, once a minute, beside the log of a daemon whose disk was full."""
    told = threading.Event()

    def full() -> None:
        told.set()
        raise SpaceError("No space is left for afterd.db.")

    with service(where, poll=NEVER) as found, running_triggers([found], threading.Event()) as times:
        times.every(0.05, full)
        assert told.wait(PATIENCE)
    assert "No space is left for afterd.db." in [each.getMessage() for each in caplog.records]
    assert not [each for each in caplog.records if each.exc_info]
