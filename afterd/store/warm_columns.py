"""From schema 2 to 3: which way a test was run. A step is frozen: later changes are later steps."""

from __future__ import annotations

from sqlite_utils import Database

_TABLES = ("outcome", "run", "run_counts")


def add_warm_columns(database: Database) -> None:
    """Say of every run that it was one of a fresh process: there were no others."""
    for table in _TABLES:
        database.execute(f"ALTER TABLE {table} ADD COLUMN warm INTEGER NOT NULL DEFAULT 0")
