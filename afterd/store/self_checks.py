"""Past answers verified again, and what that says of the others."""

from __future__ import annotations

import time
from dataclasses import dataclass

from afterd.model.outcome import Verdict
from afterd.store.database import Reader, Store
from afterd.store.rows import from_row, to_row


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """One explanation verified again: its outcome with root and auxiliary changes undone, and with
    nothing undone. ``held`` is None where that could not be told (a build that fails now).
    """

    explanation_id: int
    reverted: Verdict
    put_back: Verdict
    held: bool | None


@dataclass(frozen=True, slots=True)
class Record:
    """Answers that were checked and held, or did not; ``marked`` by people, ``refuted`` of them."""

    held: int
    failed: int
    untold: int
    marked: int
    refuted: int


def keep_self_check(store: Store, check: SelfCheck) -> None:
    """Append what was seen."""
    with store.transaction() as database:
        database.table("self_check").insert(to_row(check) | {"created": time.time()})


def next_to_check(reader: Reader) -> int | None:
    """The answer that was checked longest ago, or never; None where there is none to check.

    Answers that a person marked wrong are known to be, and are left out.
    """
    rows = reader.rows(
        """SELECT e.id FROM explanation e
           LEFT JOIN (SELECT explanation_id, max(created) AS last FROM self_check
                      GROUP BY explanation_id) s ON s.explanation_id = e.id
           WHERE e.status = 'explained' AND e.verified
             AND NOT EXISTS (SELECT 1 FROM mark m WHERE m.explanation_id = e.id)
           ORDER BY coalesce(s.last, 0), e.id DESC LIMIT 1"""
    )
    return int(str(rows[0]["id"])) if rows else None


def self_checks(reader: Reader, identifier: int) -> list[SelfCheck]:
    """The checks of an explanation, oldest first."""
    with reader.snapshot():
        rows = reader.rows(
            "SELECT * FROM self_check WHERE explanation_id = ? ORDER BY id", (identifier,)
        )
        return [from_row(SelfCheck, row) for row in rows]


def last_check(reader: Reader) -> float:
    """When any answer was last checked, in seconds since 1970; 0: never."""
    [row] = reader.rows("SELECT coalesce(max(created), 0.0) AS last FROM self_check")
    assert isinstance(row["last"], float)
    return row["last"]


def record(reader: Reader) -> Record:
    """How answers did: each is counted once, by its newest mark, or else by its newest check.

    A mark "cause" refutes an answer whose root is another; "wrong" and "flaky" refute every one.
    """
    with reader.snapshot():
        [checks] = reader.rows(
            """SELECT coalesce(sum(held = 1), 0) AS held, coalesce(sum(held = 0), 0) AS failed,
                      coalesce(sum(held IS NULL), 0) AS untold
               FROM self_check
               WHERE id IN (SELECT max(id) FROM self_check GROUP BY explanation_id)
                 AND explanation_id NOT IN (SELECT explanation_id FROM mark)"""
        )
        [marked] = reader.rows(
            """SELECT count(*) AS marked, coalesce(sum(m.kind <> 'cause' OR
                   (SELECT group_concat(id) FROM (SELECT id FROM change c
                        WHERE c.explanation_id = m.explanation_id AND c.role = 'root' ORDER BY id))
                   IS NOT (SELECT group_concat(value) FROM
                        (SELECT value FROM json_each(m.changes) ORDER BY value))), 0) AS refuted
               FROM mark m
               WHERE m.id IN (SELECT max(id) FROM mark GROUP BY explanation_id)"""
        )
        return from_row(Record, {**checks, **marked})
