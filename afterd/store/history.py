"""Test outcomes by commit: where a test was last green, and how often it contradicts itself."""

from __future__ import annotations

import time
from dataclasses import dataclass

from afterd.model.outcome import Verdict
from afterd.store.database import Reader, Store
from afterd.store.repositories import repository_id
from afterd.store.rows import from_row, to_row
from afterd.store.text import loaded, stored


@dataclass(frozen=True, slots=True)
class Observation:
    """One run of a test on a commit; ``command`` is the digest of build and test command."""

    commit_id: str
    test: str
    command: str
    verdict: Verdict
    seconds: float = 0.0


def observe(store: Store, repository: str, observation: Observation) -> None:
    """Append what was seen; ``repository`` is the absolute path of the common git directory."""
    with store.transaction() as database:
        owner = {"repository_id": repository_id(database, repository), "created": time.time()}
        database.table("history").insert(owner | to_row(observation))


def observations(reader: Reader, repository: str, test: str) -> list[Observation]:
    """Every run of a test in a repository, oldest first."""
    with reader.snapshot():
        rows = reader.rows(
            """SELECT h.* FROM history h JOIN repository r ON r.id = h.repository_id
               WHERE r.path = ? AND h.test = ? ORDER BY h.id""",
            (stored(repository), stored(test)),
        )
        return [from_row(Observation, row) for row in rows]


def tested_commits(reader: Reader, repository: str, command: str) -> dict[str, Verdict]:
    """The commits at which a whole command was run, with its newest verdict.

    ``command`` is the digest of build and test command: another one says nothing of this one.
    """
    with reader.snapshot():
        rows = reader.rows(
            """SELECT h.commit_id, h.verdict FROM history h
               JOIN repository r ON r.id = h.repository_id
               WHERE r.path = ? AND h.test = '' AND h.command = ? ORDER BY h.id""",
            (stored(repository), command),
        )
        return {loaded(row["commit_id"]): Verdict(loaded(row["verdict"])) for row in rows}


def red_at(reader: Reader, repository: str, command: str) -> dict[str, set[str]]:
    """The tests that a run of a whole command saw failing, by commit.

    Without those that were also seen to pass there: a flaky test's failure is no state of a commit.
    """
    with reader.snapshot():
        rows = reader.rows(
            """SELECT DISTINCT h.commit_id, h.test FROM history h
               JOIN repository r ON r.id = h.repository_id
               WHERE r.path = ? AND h.test <> '' AND h.command = ? AND h.verdict = 'fail'
               AND NOT EXISTS (SELECT 1 FROM history p
                   WHERE p.repository_id = h.repository_id AND p.test = h.test
                     AND p.commit_id = h.commit_id AND p.verdict = 'pass')""",
            (stored(repository), command),
        )
    red: dict[str, set[str]] = {}
    for row in rows:
        red.setdefault(loaded(row["commit_id"]), set()).add(loaded(row["test"]))
    return red
