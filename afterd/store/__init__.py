"""SQLite: every explanation, outcome, mark and job of a repository, in one file."""

from afterd.store.database import Store, open_store

__all__ = ["Store", "open_store"]
