"""Commits of unknown origin that a person allowed to run: the commit, not its branch or author."""

from __future__ import annotations

import time

from afterd.store.database import Reader, Store


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
