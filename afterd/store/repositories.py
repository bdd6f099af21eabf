"""The repositories that explanations and test history belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from afterd.store.text import stored

if TYPE_CHECKING:
    from sqlite_utils import Database


def repository_id(database: Database, path: str) -> int:
    """The number of the repository with this common git directory, given to it when new."""
    key = (stored(path),)
    database.execute("INSERT INTO repository (path) VALUES (?) ON CONFLICT DO NOTHING", key)
    return int(database.execute("SELECT id FROM repository WHERE path = ?", key).fetchone()[0])
