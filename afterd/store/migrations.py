"""From an older schema to the present one, in one transaction.

``STEPS[n]`` turns a database of version n - 1 into one of version n. A step may use sqlite-utils'
``transform``. The texts of all released schemas are kept in ``tests/store/released``; the tests
migrate each of them and compare the result with ``schema.SCHEMA``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from afterd.errors import StoreError
from afterd.store.added_columns import (
    add_also_column,
    add_branch_column,
    add_budget_column,
    add_cost_column,
    add_failure_columns,
    add_outcome_cost_column,
    add_remarks_column,
    add_story_columns,
    add_warm_columns,
)
from afterd.store.daemon_tables import add_daemon_tables
from afterd.store.faults import foreign_database
from afterd.store.ranking_tables import add_ranking_tables
from afterd.store.schema import APPLICATION_ID, SCHEMA, SCHEMA_VERSION

if TYPE_CHECKING:
    from sqlite_utils import Database

Step = Callable[["Database"], None]

STEPS: Mapping[int, Step] = {
    2: add_daemon_tables,
    3: add_warm_columns,
    4: add_ranking_tables,
    5: add_also_column,
    6: add_failure_columns,
    7: add_story_columns,
    8: add_cost_column,
    9: add_branch_column,
    10: add_outcome_cost_column,
    11: add_remarks_column,
    12: add_budget_column,
}


def version(database: Database | sqlite3.Connection, path: Path) -> int:
    """The schema version of a database, 0 when it is empty.

    Raises StoreError when it is somebody else's, or newer than this afterd.
    """
    application = _pragma(database, "application_id")
    found = _pragma(database, "user_version")
    if application != APPLICATION_ID:
        if application or found or _count(database):
            raise foreign_database(path)
        return 0
    if found > SCHEMA_VERSION:
        raise StoreError(
            f"The database {path} was written by a newer afterd: its schema is version {found}, "
            f"this afterd knows version {SCHEMA_VERSION}. Nothing was touched: use the newer one."
        )
    return found


def migrate(database: Database, path: Path, steps: Mapping[int, Step] = STEPS) -> None:
    """Bring ``database``, inside a write transaction, to the present schema."""
    found = version(database, path)
    if found == SCHEMA_VERSION:
        return
    if found == 0:
        for statement in statements(SCHEMA):
            database.execute(statement)
    else:
        for number in range(found + 1, SCHEMA_VERSION + 1):
            steps[number](database)
    database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def statements(script: str) -> Iterator[str]:
    """The statements of our own schema text: a semicolon at a line's end is the end of one.

    ``executescript`` would commit the transaction first.
    """
    for part in script.split(";\n"):
        if part.strip():
            yield part


def _count(database: Database | sqlite3.Connection) -> int:
    """How many tables there are."""
    return int(database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0])


def _pragma(database: Database | sqlite3.Connection, name: str) -> int:
    return int(database.execute(f"PRAGMA {name}").fetchone()[0])
