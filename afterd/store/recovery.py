"""A damaged database: set aside by name, what can be read of it (``salvage``) kept in a new one.

Where the pages are lost that say where every table begins, a copy of them stands beside the file
(``.head``, some 30 KiB, written when the database is made).

The rest comes from git: where refs were is forgotten with any lost job, so that the daemon looks at
HEAD as on its first day; outcomes are run again when they are asked for.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from afterd.store.faults import damage_mark
from afterd.store.migrations import statements
from afterd.store.salvage import Salvage, read_only, salvaged_rows
from afterd.store.schema import APPLICATION_ID, SCHEMA, SCHEMA_VERSION

_MAGIC = b"SQLite format 3\0"
_INTERIOR = 5  # a page of a table with pages below it
_ANEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_PAGE_SIZES = frozenset(1 << power for power in range(9, 16))
_NUMBERS = (
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
_LOG = ("-wal", "-shm")


def trouble(path: Path) -> str:
    """What is wrong with the file at ``path``, as far as it can be seen at once; empty: nothing.

    A file in which damage was met while it was used is marked (``faults``). Asked through SQLite alone:
    whoever opens and closes the file itself takes away the locks that this process has on it. A
    write-ahead log may hold pages that a file is short of, so its length counts only without one.
    """
    if damage_mark(path).exists():
        return "what it holds made no sense"
    size = path.stat().st_size
    if not size:
        return "it is empty"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as opened:
            user, application, pages, page = (
                int(opened.execute(f"PRAGMA {name}").fetchone()[0])
                for name in ("user_version", "application_id", "page_count", "page_size")
            )
            if user > SCHEMA_VERSION or application not in (0, APPLICATION_ID):
                return ""  # it is not ours to touch, whatever is wrong with it
            opened.execute("SELECT name, sql FROM sqlite_schema").fetchall()
    except sqlite3.DatabaseError as error:
        return str(error) if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE else ""
    wal = _path_named(path, "-wal")
    if not (wal.exists() and wal.stat().st_size) and size < pages * page:
        return f"it ends after {size} of {pages * page} bytes"
    return ""


@contextmanager
def presence(path: Path) -> Iterator[Callable[[], bool]]:
    """Be known to use the database until the end; what is given tells whether nobody else does.

    A file that somebody has open cannot be set aside: they would go on writing into it.
    """
    descriptor = os.open(_path_named(path, ".users"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def alone() -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        fcntl.flock(descriptor, fcntl.LOCK_SH)  # who writes has another lock as well
        return True

    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield alone
    finally:
        os.close(descriptor)


def set_up(path: Path, connect: Callable[[str], sqlite3.Connection]) -> None:
    """Make an empty database at ``path``, whole or not at all, readable by its owner only.

    An empty file is therefore never one of ours.
    """
    made = _path_named(path, ".new")
    _remove(made)
    with closing(_new_database(made, connect)):
        pass
    _remember_head(made, _path_named(path, ".head"))
    made.rename(path)


def forget_head(path: Path) -> None:
    """The schema is about to change."""
    _path_named(path, ".head").unlink(missing_ok=True)


def _remember_head(made: Path, kept: Path) -> None:
    """Keep a copy of the pages that say where tables begin: they are the lowest and never move."""
    with suppress(OSError, struct.error):  # an aid, no condition
        pages = _schema_pages(made)
        with os.fdopen(os.open(kept, _ANEW, 0o600), "wb") as file:
            file.write(pages)


def _schema_pages(path: Path) -> bytes:
    """The first page and the leaves below it, each after its number (SQLite's file format, 1.6)."""
    with path.open("rb") as file:
        page = _page_size(file.read(100))
        file.seek(0)
        first = file.read(page)
        numbers = []
        if first[100] == _INTERIOR:
            (count,) = struct.unpack_from(">H", first, 103)
            cells = struct.unpack_from(f">{count}H", first, 112)
            numbers = [struct.unpack_from(">I", first, place)[0] for place in (*cells, 108)]
        found = [(1, first)]
        for number in numbers:
            file.seek((number - 1) * page)
            found.append((number, file.read(page)))
    return b"".join(struct.pack(">I", number) + content for number, content in found)


def recover(path: Path, why: str, connect: Callable[[str], sqlite3.Connection]) -> str:
    """Set the database aside and put what can be read of it into its place; a sentence that says so."""
    aside = _path_named(path, f".damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}")
    made, copy = _path_named(path, ".new"), _path_named(path, ".copy")
    for left in (made, copy):
        _remove(left)
    for ending in ("", *_LOG):
        _copy_database(_path_named(path, ending), _path_named(copy, ending))
    _mend_head(copy, _path_named(path, ".head"))
    with closing(_new_database(made, connect)) as into:
        salvage = salvaged_rows(copy, into)
    for ending in ("", *_LOG):  # the log first would be lost if we are killed in between
        with suppress(FileNotFoundError):
            _path_named(path, ending).rename(_path_named(aside, ending))
    _remember_head(made, _path_named(path, ".head"))
    made.rename(path)
    _remove(copy)
    damage_mark(path).unlink(missing_ok=True)
    return _sentence(path, aside, why, salvage)


def was_set_aside(path: Path) -> bool:
    """Whether a database at ``path`` was damaged once and is kept beside it."""
    return any(path.parent.glob(f"{path.name}.damaged-*"))


def _sentence(path: Path, aside: Path, why: str, salvage: Salvage) -> str:
    explanations, jobs = (salvage.kept.get(table, 0) for table in ("explanation", "job"))
    kept = f"{explanations} explanations and {jobs} jobs were read from it into a new one."
    lost = f" Of {', '.join(sorted(salvage.lost))} not all could be read." if salvage.lost else ""
    if not any(salvage.kept.values()):
        kept, lost = "Nothing could be read from it: a new one was made.", ""
    return (
        f"The database {path} was damaged ({why}). It is kept as {aside.name}. {kept}{lost} What is missing"
        " is found again in git, and tests are run again where their outcomes are asked for."
    )


def _new_database(path: Path, connect: Callable[[str], sqlite3.Connection]) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    connection = connect(f"{path.absolute().as_uri()}?mode=rw")
    try:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only heard while the file is empty
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        for statement in (*statements(SCHEMA), *_NUMBERS, "COMMIT"):
            connection.execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection


def _mend_head(copy: Path, kept: Path) -> None:
    """Give a copy the length that its first page says, and a first page where it has none."""
    with copy.open("r+b") as file:
        head, size = file.read(100), file.seek(0, os.SEEK_END)
        page = _page_size(head)
        # pages that are not there read as empty ones
        file.truncate(max(-(-size // page) * page, _expected_size(head)) if size else 0)
    if (head.startswith(_MAGIC) and _copy_is_readable(copy)) or not kept.exists():
        return
    pages = kept.read_bytes()
    size = 4 + _page_size(pages[4:])
    with copy.open("r+b") as file:
        for place in range(0, len(pages), size):
            (number,) = struct.unpack_from(">I", pages, place)
            file.seek((number - 1) * (size - 4))
            file.write(pages[place + 4 : place + size])
        count = file.seek(0, os.SEEK_END) // (size - 4)
        file.seek(28)
        file.write(struct.pack(">III", count, 0, 0))  # no list of free pages


def _copy_is_readable(copy: Path) -> bool:
    try:
        with closing(read_only(copy)) as opened:
            return bool(opened.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0])
    except sqlite3.DatabaseError:
        return False


def _page_size(head: bytes) -> int:
    size = int.from_bytes(head[16:18], "big")
    return size if size in _PAGE_SIZES else 4096


def _expected_size(head: bytes) -> int:
    """Bytes that the header says there are; 0 where its count is out of date."""
    valid = head.startswith(_MAGIC) and head[24:28] == head[92:96]
    return int.from_bytes(head[28:32], "big") * _page_size(head) if valid else 0


def _path_named(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _copy_database(source: Path, target: Path) -> None:
    if source.exists():
        os.close(os.open(target, _ANEW, 0o600))
        shutil.copyfile(source, target)


def _remove(path: Path) -> None:
    for ending in ("", *_LOG, "-journal"):
        _path_named(path, ending).unlink(missing_ok=True)
