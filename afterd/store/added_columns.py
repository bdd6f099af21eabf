"""Columns that came later. A step is frozen: later changes are later steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database


_TABLES = ("outcome", "run", "run_counts")


def add_warm_columns(database: Database) -> None:
    """From schema 2 to 3: say of every run that it was one of a fresh process, there were no others."""
    for table in _TABLES:
        database.execute(f"ALTER TABLE {table} ADD COLUMN warm INTEGER NOT NULL DEFAULT 0")


def add_also_column(database: Database) -> None:
    """From schema 4 to 5: other tests of an answer. Say of every explanation that it has none."""
    database.execute("ALTER TABLE explanation ADD COLUMN also TEXT NOT NULL DEFAULT '[]'")


def add_story_columns(database: Database) -> None:
    """From schema 6 to 7: what the steps of a story computed, and what the story cost."""
    for column in ("was TEXT", "computed TEXT", "undone TEXT"):
        database.execute(f"ALTER TABLE step ADD COLUMN {column} NOT NULL DEFAULT ''")
    database.execute("ALTER TABLE step ADD COLUMN tested INTEGER NOT NULL DEFAULT 0")
    database.execute("ALTER TABLE run_counts ADD COLUMN interventions INTEGER NOT NULL DEFAULT 0")
    database.execute("ALTER TABLE run_counts ADD COLUMN seconds_story REAL NOT NULL DEFAULT 0")


def add_failure_columns(database: Database) -> None:
    """From schema 5 to 6: how tests failed beside that they did; of older runs it is not known."""
    database.execute("ALTER TABLE history ADD COLUMN signature TEXT NOT NULL DEFAULT ''")
    database.execute("ALTER TABLE run ADD COLUMN failures TEXT NOT NULL DEFAULT '[]'")


def add_cost_column(database: Database) -> None:
    """From schema 7 to 8: the CPU seconds of a run; of older runs they are not known, and 0."""
    database.execute("ALTER TABLE run ADD COLUMN cpu REAL NOT NULL DEFAULT 0")


def add_outcome_cost_column(database: Database) -> None:
    """From schema 9 to 10: the CPU seconds of remembered outcomes; of older ones they are not known, and 0."""
    database.execute("ALTER TABLE outcome ADD COLUMN cpu REAL NOT NULL DEFAULT 0")


def add_branch_column(database: Database) -> None:
    """From schema 8 to 9: whose branch a step is on, where several changes are guilty."""
    database.execute("ALTER TABLE step ADD COLUMN whose TEXT NOT NULL DEFAULT ''")


def add_remarks_column(database: Database) -> None:
    """From schema 10 to 11: sentences that were among the notes until then."""
    database.execute("ALTER TABLE explanation ADD COLUMN remarks TEXT NOT NULL DEFAULT '[]'")


def add_budget_column(database: Database) -> None:
    """From schema 11 to 12: whether the budget ended the search, which the reason alone told."""
    database.execute("ALTER TABLE explanation ADD COLUMN out_of_budget INTEGER NOT NULL DEFAULT 0")
    database.execute(
        "UPDATE explanation SET out_of_budget = 1"
        " WHERE status = 'inconclusive' AND reason LIKE '%budget%'"
    )
