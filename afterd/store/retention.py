"""Forgetting: what is old goes, and the file gets smaller."""

from __future__ import annotations

from afterd.store.database import Store

_AGES = (
    "DELETE FROM explanation WHERE created < ?",
    "DELETE FROM outcome WHERE created < ?",
    "DELETE FROM build WHERE created < ?",
    "DELETE FROM history WHERE created < ?",
    "DELETE FROM verdict WHERE created < ?",
    "DELETE FROM approval WHERE created < ?",
    "DELETE FROM outgoing WHERE updated < ? AND state <> 'queued'",
    "DELETE FROM job WHERE updated < ? AND state NOT IN ('waiting', 'queued', 'leased')",
)


def prune(store: Store, before: float) -> int:
    """Forget what was written before a time (seconds since 1970); how many rows went."""
    with store.transaction() as database:
        gone = sum(database.execute(statement, (before,)).rowcount for statement in _AGES)
    store.shrink()
    return gone
