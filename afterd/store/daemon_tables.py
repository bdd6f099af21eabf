"""From schema 1 to 2: what the daemon keeps. A step is frozen: later changes are later steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database


_STATEMENTS = """
ALTER TABLE job ADD COLUMN stalls INTEGER NOT NULL DEFAULT 0;
DROP INDEX job_unfinished;
CREATE UNIQUE INDEX job_unfinished ON job (key) WHERE state IN ('waiting', 'queued', 'leased');
CREATE TABLE run (
    job_id INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    tree TEXT NOT NULL,
    test TEXT NOT NULL,
    command TEXT NOT NULL,
    environment TEXT NOT NULL,
    number INTEGER NOT NULL,
    created REAL NOT NULL,
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    signature TEXT NOT NULL,
    build_seconds REAL NOT NULL,
    test_seconds REAL NOT NULL,
    lasting INTEGER NOT NULL,
    builds INTEGER NOT NULL,
    tests INTEGER NOT NULL,
    missing TEXT NOT NULL,
    unrunnable TEXT NOT NULL,
    PRIMARY KEY (job_id, tree, test, command, environment, number)
) WITHOUT ROWID;
CREATE INDEX run_by_time ON run (created);
CREATE TABLE verdict (
    id INTEGER PRIMARY KEY,
    repository_id INTEGER NOT NULL REFERENCES repository (id),
    commit_id TEXT NOT NULL,
    base TEXT NOT NULL,
    test TEXT NOT NULL,
    kind TEXT NOT NULL,
    rate REAL,
    runs INTEGER NOT NULL,
    explanation_id INTEGER REFERENCES explanation (id) ON DELETE SET NULL,
    reason TEXT NOT NULL,
    created REAL NOT NULL,
    UNIQUE (repository_id, commit_id, test)
);
CREATE TABLE ref_tip (
    repository_id INTEGER NOT NULL REFERENCES repository (id),
    name TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    PRIMARY KEY (repository_id, name)
) WITHOUT ROWID;
CREATE TABLE approval (
    commit_id TEXT PRIMARY KEY,
    created REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE self_check (
    id INTEGER PRIMARY KEY,
    explanation_id INTEGER NOT NULL REFERENCES explanation (id) ON DELETE CASCADE,
    created REAL NOT NULL,
    reverted TEXT NOT NULL,
    put_back TEXT NOT NULL,
    held INTEGER
);
CREATE INDEX self_check_by_explanation ON self_check (explanation_id);
CREATE TABLE outgoing (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    explanation_id INTEGER REFERENCES explanation (id) ON DELETE SET NULL,
    forge TEXT NOT NULL,
    project TEXT NOT NULL,
    branch TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    not_before REAL NOT NULL,
    url TEXT NOT NULL,
    reason TEXT NOT NULL,
    created REAL NOT NULL,
    updated REAL NOT NULL
);
CREATE INDEX outgoing_queue ON outgoing (state, not_before);
"""


def add_daemon_tables(database: Database) -> None:
    """The daemon's tables; a job counts the leases that reached nothing."""
    for statement in _STATEMENTS.split(";\n"):
        if statement.strip():
            database.execute(statement)
