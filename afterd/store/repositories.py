"""The repositories that explanations and test history belong to.

Where the watched refs were when the daemon last looked.

Commits of unknown origin that a person allowed to run: the commit, not its branch or author.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from afterd.store.database import Reader, Store
from afterd.store.text import loaded_text, stored_text

if TYPE_CHECKING:
    from sqlite_utils import Database


def repository_id(database: Database, path: str) -> int:
    """The number of the repository with this common git directory, given to it when new."""
    key = (stored_text(path),)
    database.execute("INSERT INTO repository (path) VALUES (?) ON CONFLICT DO NOTHING", key)
    return int(database.execute("SELECT id FROM repository WHERE path = ?", key).fetchone()[0])


def ref_tips(reader: Reader, repository: str) -> dict[str, str]:
    """The commit of each ref by the ref's full name; empty before the first look."""
    rows = reader.rows(
        "SELECT t.name, t.commit_id FROM ref_tip t JOIN repository r ON r.id = t.repository_id "
        "WHERE r.path = ?",
        (stored_text(repository),),
    )
    return {loaded_text(row["name"]): loaded_text(row["commit_id"]) for row in rows}


def keep_ref_tips(store: Store, repository: str, tips: Mapping[str, str]) -> None:
    """Remember where the refs are now; those that are gone are forgotten."""
    with store.transaction() as database:
        owner = repository_id(database, repository)
        database.execute("DELETE FROM ref_tip WHERE repository_id = ?", (owner,))
        database.table("ref_tip").insert_all(
            {"repository_id": owner, "name": stored_text(name), "commit_id": commit}
            for name, commit in tips.items()
        )


def approve(store: Store, commit: str) -> None:
    """Allow the tests of one commit to run; its successors wait again."""
    with store.transaction() as database:
        database.execute(
            "INSERT INTO approval (commit_id, created) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (commit, time.time()),
        )


def is_approved(reader: Reader, commit: str) -> bool:
    """Whether a person allowed this very commit."""
    return bool(reader.rows("SELECT 1 FROM approval WHERE commit_id = ?", (commit,)))
