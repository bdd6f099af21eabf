"""The repositories that explanations and test history belong to."""

from __future__ import annotations

from sqlite_utils import Database

from afterd.store.text import stored


def repository_id(database: Database, path: str) -> int:
    """The number of the repository with this common git directory, given to it when new."""
    key = (stored(path),)
    database.execute("INSERT INTO repository (path) VALUES (?) ON CONFLICT DO NOTHING", key)
    return int(database.execute("SELECT id FROM repository WHERE path = ?", key).fetchone()[0])
