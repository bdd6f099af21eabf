"""The database file: opened safely, written by one connection at a time, refused when too new."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlite_utils import Database

from afterd.errors import SpaceError, StoreError
from afterd.store import reserve
from afterd.store.faults import damaged, faults
from afterd.store.locking import write_lock
from afterd.store.migrations import migrate, version
from afterd.store.rows import Row
from afterd.store.schema import SCHEMA_VERSION
from afterd.store.text import Cell

DATABASE_NAME = "afterd.db"
PATIENCE = 60.0

Connect = Callable[[str], sqlite3.Connection]


def connect(uri: str) -> sqlite3.Connection:
    """A connection without Python's implicit transactions; threads take turns in Store."""
    return sqlite3.connect(
        uri, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )


class Reader:
    """An open database that is only read. Threads may share it."""

    def __init__(self, path: Path, database: Database) -> None:
        self.path = path
        self._database = database
        self._turn = threading.RLock()

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> list[Row]:
        """The rows of one query, by column."""
        with self._turn, faults(self.path):
            cursor = self._database.execute(sql, parameters)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Queries that see one state; content that makes no sense raises StoreError."""
        with self._turn, faults(self.path):
            joined = self._database.conn.in_transaction
            try:
                if not joined:
                    self._database.execute("BEGIN")
                yield
            except (ValueError, KeyError) as error:
                raise damaged(self.path, str(error)) from error
            finally:
                if not joined:
                    _roll_back(self._database)

    def close(self) -> None:
        """Close the connection."""
        with self._turn:
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Store(Reader):
    """An open database that is read and written; every write is one transaction.

    Another process may have it open too: writers take turns, readers see whole transactions.
    """

    def __init__(self, path: Path, database: Database, patience: float = PATIENCE) -> None:
        super().__init__(path, database)
        self._patience = patience
        self._writing = False

    @contextmanager
    def transaction(self) -> Iterator[Database]:
        """All or nothing: BEGIN IMMEDIATE, which waits for its turn, to COMMIT.

        Raises StoreError or SpaceError, after which nothing of the block was written. On a full
        disk the reserve is given back, so that what comes next has room to say so. Inside another
        transaction of the same thread it is a part of that one.
        """
        with self._turn:
            if self._writing:
                yield self._database
                return
            try:
                with self._exclusive(), faults(self.path), _immediate(self._database):
                    self._writing = True
                    yield self._database
            except SpaceError:
                reserve.release(_beside(self.path, ".reserve"))
                raise
            finally:
                self._writing = False

    def shrink(self) -> None:
        """Give free pages back to the file system."""
        with self._turn, self._exclusive(), faults(self.path):
            # as a script: execute() would take one step, which frees one page
            self._database.executescript(
                "PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)"
            )

    def close(self) -> None:
        """Close the connection; its last checkpoint takes its turn like any write."""
        with ExitStack() as turn:
            with suppress(StoreError):
                turn.enter_context(self._exclusive())
            super().close()

    def _exclusive(self) -> AbstractContextManager[None]:
        return write_lock(_beside(self.path, ".lock"), self._patience)


def open_store(path: Path, *, connect: Connect = connect, patience: float = PATIENCE) -> Store:
    """Open the database at ``path`` for reading and writing, made or migrated as needed.

    Raises StoreError when it is newer than this afterd, damaged, or cannot be opened, and
    SpaceError when the disk is full; the file is then as it was.
    """
    with faults(path):
        _make_folder(path.parent)
        with write_lock(_beside(path, ".lock"), patience):
            if path.exists() and path.stat().st_size:
                _opened(path, "ro", connect).close()  # refuses without touching the file
            database = _opened(path, "rwc", connect, _prepare)
    reserve.keep(_beside(path, ".reserve"))
    return Store(path, database, patience)


def open_reader(path: Path, *, connect: Connect = connect) -> Reader:
    """Open an existing database for reading; one of an older schema is migrated first.

    Raises StoreError when there is none, or when it is newer than this afterd or damaged.
    """
    if not path.exists():
        raise StoreError(f"Nothing was explained in this repository yet: there is no {path}.")
    with faults(path):
        database = _opened(path, "ro", connect)
        if version(database, path) == SCHEMA_VERSION:
            return Reader(path, database)
        database.close()
    open_store(path, connect=connect).close()
    return Reader(path, _opened(path, "ro", connect))


def _opened(
    path: Path,
    mode: str,
    connect: Connect,
    prepare: Callable[[Database, Path], object] = version,
) -> Database:
    """A connection on which ``prepare`` went well, or none."""
    connection = connect(f"{path.absolute().as_uri()}?mode={mode}")
    database = Database(connection, recursive_triggers=False, execute_plugins=False)
    try:
        prepare(database, path)
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: Database, path: Path) -> None:
    database.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only heard while the file is empty
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA foreign_keys = ON")
    with _immediate(database):
        migrate(database, path)


@contextmanager
def _immediate(database: Database) -> Iterator[None]:
    """A write transaction from its first moment.

    A deferred one does not wait but fails when it turns to writing after another's commit
    (SQLITE_BUSY_SNAPSHOT, measured).
    """
    try:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("COMMIT")
    except BaseException:
        _roll_back(database)
        raise


def _roll_back(database: Database) -> None:
    """End a transaction, whatever it takes; after a full disk SQLite has ended it already.

    Where even that fails the connection is closed: kept open it would hold the lock, and what is
    written next would join the failed transaction.
    """
    try:
        if database.conn.in_transaction:
            database.execute("ROLLBACK")
    except sqlite3.Error:
        database.close()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} cannot be made ({error.strerror}). Check who owns its parent."
        ) from error


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
