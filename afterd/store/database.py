"""The database file: opened safely, written by one connection at a time, refused when too new."""

from __future__ import annotations

import importlib
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from afterd.errors import SpaceError, StoreError
from afterd.store import reserve
from afterd.store.faults import faults, in_use, nonsense
from afterd.store.locking import write_lock
from afterd.store.migrations import migrate, version
from afterd.store.recovery import forget_head, presence, recover, set_up, trouble
from afterd.store.rows import Row
from afterd.store.schema import SCHEMA_VERSION
from afterd.store.text import Cell

if TYPE_CHECKING:
    from sqlite_utils import Database

DATABASE_NAME = "afterd.db"
PATIENCE = 60.0

Connect = Callable[[str], sqlite3.Connection]


def connect(uri: str) -> sqlite3.Connection:
    """A connection without Python's implicit transactions; threads take turns in Store."""
    return sqlite3.connect(
        uri, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )


class Reader:
    """An open database that is only read. Threads may share it.

    It needs no sqlite-utils, which imports numpy where that is installed: `afterd list` must not wait.
    """

    def __init__(
        self, path: Path, connection: sqlite3.Connection, uses: ExitStack | None = None
    ) -> None:
        self.path = path
        self._connection = connection
        self._uses = uses or ExitStack()
        self._turn = threading.RLock()

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> list[Row]:
        """The rows of one query, by column."""
        with self._turn, faults(self.path):
            cursor = self._connection.execute(sql, parameters)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Queries that see one state; content that makes no sense raises StoreError."""
        with self._turn, faults(self.path):
            joined = self._connection.in_transaction
            try:
                if not joined:
                    self._connection.execute("BEGIN")
                yield
            except (ValueError, KeyError) as error:
                raise nonsense(self.path, str(error)) from error
            finally:
                if not joined:
                    _roll_back(self._connection)

    def close(self) -> None:
        """Close the connection."""
        with self._turn:
            self._connection.close()
            self._uses.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()


class Store(Reader):
    """An open database that is read and written; every write is one transaction.

    Another process may have it open too: writers take turns, readers see whole transactions.
    """

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        patience: float = PATIENCE,
        uses: ExitStack | None = None,
    ) -> None:
        super().__init__(path, connection, uses)
        self._database = _with_tables(connection)
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
                with self._exclusive(), faults(self.path), _immediate_transaction(self._connection):
                    self._writing = True
                    yield self._database
            except SpaceError:
                reserve.release(_path_beside(self.path, ".reserve"))
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
        return write_lock(_path_beside(self.path, ".lock"), self._patience)


def say_aloud(sentence: str) -> None:
    """On standard error, as the command line says what goes on."""
    sys.stderr.write(f"afterd: {sentence}\n")


def open_store(
    path: Path,
    *,
    connect: Connect = connect,
    patience: float = PATIENCE,
    say: Callable[[str], None] = say_aloud,
) -> Store:
    """Open the database at ``path`` for reading and writing, made or migrated as needed.

    A damaged one is set aside, and ``say`` is told what came over. Raises StoreError when it is newer
    than this afterd, another program's, or cannot be opened, and SpaceError when the disk is full; the
    file is then as it was.
    """
    with ExitStack() as uses, faults(path):
        _make_folder(path.parent)
        with write_lock(_path_beside(path, ".lock"), patience):
            is_alone = uses.enter_context(presence(path))
            if not path.exists():
                set_up(path, connect)
            elif why := trouble(path):
                if not is_alone():
                    raise in_use(path, why)
                say(recover(path, why, connect))
            found = _opened_connection(path, "ro", connect)  # refuses without touching the file
            if version(found, path) != SCHEMA_VERSION:
                forget_head(path)
            found.close()
            connection = _opened_connection(path, "rw", connect, _prepare)
        reserve.keep(_path_beside(path, ".reserve"))
        return Store(path, connection, patience, uses.pop_all())
    raise AssertionError  # faults() raises what it catches


def open_reader(
    path: Path, *, connect: Connect = connect, say: Callable[[str], None] = say_aloud
) -> Reader:
    """Open an existing database for reading; one of an older schema is migrated first, a damaged one
    set aside.

    Raises StoreError when there is none, or when it is newer than this afterd or another program's.
    """
    if not path.exists():
        raise StoreError(f"Nothing was explained in this repository yet: there is no {path}.")
    with ExitStack() as uses, faults(path):
        if trouble(path):
            open_store(path, connect=connect, say=say).close()
        uses.enter_context(presence(path))
        connection = _opened_connection(path, "ro", connect)
        if version(connection, path) != SCHEMA_VERSION:
            connection.close()
            open_store(path, connect=connect).close()
            connection = _opened_connection(path, "ro", connect)
        return Reader(path, connection, uses.pop_all())
    raise AssertionError  # faults() raises what it catches


def _opened_connection(
    path: Path,
    mode: str,
    connect: Connect,
    prepare: Callable[[sqlite3.Connection, Path], object] = version,
) -> sqlite3.Connection:
    """A connection on which ``prepare`` went well, or none."""
    connection = connect(f"{path.absolute().as_uri()}?mode={mode}")
    try:
        prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _with_tables(connection: sqlite3.Connection) -> Database:
    database: Database = importlib.import_module("sqlite_utils").Database(
        connection, recursive_triggers=False, execute_plugins=False
    )
    return database


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    with _immediate_transaction(connection):
        migrate(_with_tables(connection), path)


@contextmanager
def _immediate_transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A write transaction from its first moment.

    A deferred one does not wait but fails when it turns to writing after another's commit
    (SQLITE_BUSY_SNAPSHOT, measured).
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise


def _roll_back(connection: sqlite3.Connection) -> None:
    """End a transaction, whatever it takes; after a full disk SQLite has ended it already.

    Where even that fails the connection is closed: kept open it would hold the lock, and what is
    written next would join the failed transaction.
    """
    try:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    except sqlite3.Error:
        connection.close()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} cannot be made ({error.strerror}). Check who owns its parent."
        ) from error


def _path_beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
