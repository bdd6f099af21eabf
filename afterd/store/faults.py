"""What SQLite says when something is wrong, as sentences of ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
        raise explained_error(path, error) from error
    except UnicodeDecodeError as error:
        raise damage_error(path, str(error)) from error


def damage_mark(path: Path) -> Path:
    """The mark that a database was met damaged: who opens it next sets it aside."""
    return path.with_name(path.name + ".suspected")


def explained_error(path: Path, error: sqlite3.Error) -> AfterdError:
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
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return damage_error(path, str(error))
        case _:
            return StoreError(f"The database {path} does not do what it should ({error}).")


def damage_error(path: Path, why: str) -> StoreError:
    """The database is there and makes no sense; leaves the mark that has it set aside."""
    with suppress(OSError):
        damage_mark(path).touch(mode=0o600)
    return StoreError(
        f"The database {path} is damaged ({why}). Run again: it is set aside then, and what can be read "
        "of it is kept."
    )


def in_use(path: Path, why: str) -> StoreError:
    """It is damaged, and cannot be set aside now."""
    return StoreError(
        f"The database {path} is damaged ({why}), and another afterd has it open. End it (`afterd daemon "
        "stop`) and run again: it is set aside then, and what can be read of it is kept."
    )


def nonsense(path: Path, why: str) -> StoreError:
    """The file is whole, and a row of it is not one that afterd writes."""
    return StoreError(
        f"The database {path} holds a row that makes no sense ({why}): put a copy of it back, or move it "
        "away and afterd starts a new one."
    )


def foreign_database(path: Path) -> StoreError:
    """The database is somebody else's."""
    return StoreError(
        f"The database {path} belongs to another program. It was left as it is: move it away, and "
        "afterd starts a new one."
    )
