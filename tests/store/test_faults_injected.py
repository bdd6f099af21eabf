"""The n-th call to SQLite fails, once or from then on: the state is the one before or after.

SQLite's own I/O-error loops in Python's form (coverage.py's FailingProxy): make the first call
fail, then the second, until a run goes through.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from explanation_samples import RUNNING_EXAMPLE

from afterd.errors import AfterdError, SpaceError, StoreError
from afterd.store.database import Connect, Store, open_store
from afterd.store.explanations import listing, load, save
from afterd.store.jobs import JobQueue, unfinished_jobs
from afterd.store.marks import Mark, MarkKind, add_mark, marks

CODES = {
    sqlite3.SQLITE_IOERR_WRITE: (StoreError, "The disk failed"),
    sqlite3.SQLITE_FULL: (SpaceError, "No space is left"),
    sqlite3.SQLITE_BUSY: (StoreError, "keeps .* locked"),
    sqlite3.SQLITE_CORRUPT: (StoreError, "is damaged"),
    sqlite3.SQLITE_READONLY: (StoreError, "cannot be used"),
}


class FailingConnection(sqlite3.Connection):
    """A real connection whose n-th ``execute`` fails; ``persistent``: and every later one."""

    calls = 0
    fail_at = 0
    persistent = False
    code = sqlite3.SQLITE_IOERR_WRITE

    def execute(self, *args: Any) -> sqlite3.Cursor:  # noqa: ANN401 - passed on as they are
        self.calls += 1
        due = self.calls >= self.fail_at if self.persistent else self.calls == self.fail_at
        if self.fail_at and due:
            error = sqlite3.OperationalError("injected")
            error.sqlite_errorcode = self.code
            error.sqlite_errorname = "SQLITE_INJECTED"
            raise error
        return super().execute(*args)


def failing(made: list[FailingConnection], fail_at: int = 0) -> Connect:
    def connect(uri: str) -> sqlite3.Connection:
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, factory=FailingConnection)
        connection.fail_at = fail_at
        made.append(connection)
        return connection

    return connect


def save_one(store: Store) -> None:
    save(store, "/git", RUNNING_EXAMPLE, lambda _: "{}")


def mark_one(store: Store) -> None:
    add_mark(store, 1, Mark(MarkKind.WRONG))


def queue_one(store: Store) -> None:
    with store.transaction():
        queue = JobQueue(store)
        queue.enqueue("key", "explain", "{}")
        job = queue.lease("w", 10)
        assert job is not None
        assert queue.reach(job, "traced", "{}")


def state(path: Path) -> tuple[object, ...]:
    with open_store(path) as store:
        assert store.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
        found = tuple(load(store, summary.id) for summary in listing(store))
        return found, tuple(marks(store, 1)), len(unfinished_jobs(store))


@pytest.mark.parametrize("persistent", [False, True], ids=["transient", "persistent"])
@pytest.mark.parametrize("action", [save_one, mark_one, queue_one])
def test_every_call_may_fail(
    tmp_path: Path, action: Callable[[Store], None], *, persistent: bool
) -> None:
    path = tmp_path / "afterd.db"
    with open_store(path) as store:
        save_one(store)
    before = state(path)
    made: list[FailingConnection] = []
    for fail_at in range(1, 200):
        with open_store(path, connect=failing(made)) as store:
            made[-1].calls, made[-1].fail_at, made[-1].persistent = 0, fail_at, persistent
            try:
                action(store)
            except AfterdError:
                assert state(path) == before
            else:
                break
    assert made[-1].calls == fail_at - 1 > 3, "it went through because no call failed"
    assert state(path) != before


@pytest.mark.parametrize("code", CODES)
def test_each_code_has_its_sentence(tmp_path: Path, code: int) -> None:
    made: list[FailingConnection] = []
    with open_store(tmp_path / "afterd.db", connect=failing(made)) as store:
        made[-1].code = code
        made[-1].fail_at = made[-1].calls + 2
        kind, words = CODES[code]
        with pytest.raises(kind, match=words):
            save_one(store)
        save_one(store)


def test_opening_may_fail_at_every_call(tmp_path: Path) -> None:
    path = tmp_path / "afterd.db"
    failures = 0
    for fail_at in range(1, 200):
        try:
            open_store(path, connect=failing([], fail_at)).close()
        except StoreError:
            failures += 1
            path.unlink(missing_ok=True)
        else:
            break
    assert failures > 10
    assert state(path) == ((), (), 0)
