"""From schema 3 to 4: suites that were ranked. A step is frozen: later changes are later steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database


_STATEMENTS = """
CREATE TABLE suite_ranking (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    repository_id INTEGER NOT NULL REFERENCES repository (id),
    good TEXT NOT NULL,
    bad TEXT NOT NULL,
    suite TEXT NOT NULL,
    created REAL NOT NULL,
    afterd TEXT NOT NULL,
    tests INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    entities INTEGER NOT NULL,
    notes TEXT NOT NULL
);

CREATE TABLE suite_ranking_line (
    ranking_id INTEGER NOT NULL REFERENCES suite_ranking (id) ON DELETE CASCADE,
    technique TEXT NOT NULL,
    position INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    score REAL,
    file TEXT NOT NULL,
    line INTEGER NOT NULL,
    function TEXT NOT NULL,
    change TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (ranking_id, technique, position)
) WITHOUT ROWID;
"""


def add_ranking_tables(database: Database) -> None:
    """Add the tables of ``afterd rank``."""
    for statement in _STATEMENTS.split(";\n"):
        if statement.strip():
            database.execute(statement)
