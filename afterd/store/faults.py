"""What SQLite says when something is wrong, as sentences of ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from afterd.errors import AfterdError, SpaceError, StoreError


@contextmanager
def faults(path: Path) -> Iterator[None]:
    """Turn SQLite's errors, and text that is none, into StoreError or SpaceError.

    Misuse of the library (``ProgrammingError``, ``InterfaceError``) is our bug and stays one, but
    for a connection that was closed because not even a roll-back went through.
    """
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError) as error:
        if "closed database" not in str(error):
            raise
        raise StoreError(f"The database {path} was closed after an error. Run again.") from error
    except sqlite3.Error as error:
        raise explained(path, error) from error
    except UnicodeDecodeError as error:
        raise damaged(path, str(error)) from error


def explained(path: Path, error: sqlite3.Error) -> AfterdError:
    """The sentence for an error of SQLite, by its primary code (the low byte of the full one)."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    name = getattr(error, "sqlite_errorname", "SQLITE_ERROR")
    match code:
        case sqlite3.SQLITE_FULL:
            return SpaceError(
                f"No space is left for {path}. Nothing was half-written: make room and run again."
            )
        case sqlite3.SQLITE_IOERR:
            return StoreError(
                f"The disk failed under {path} ({name}). Nothing was half-written: "
                "check the disk and its quota, then run again."
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreError(f"Another process keeps {path} locked. Wait for it or end it.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return StoreError(
                f"The database {path} cannot be used ({error}). Check who owns its folder."
            )
        case _:
            return damaged(path, str(error))


def damaged(path: Path, why: str) -> StoreError:
    """The database is there and makes no sense."""
    return StoreError(
        f"The database {path} is damaged or not afterd's ({why}). It was left as it is: put a copy "
        "of it back, or move it away and afterd starts a new one."
    )
