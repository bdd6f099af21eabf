"""The journal of a job in the database: each run it made, for when it is resumed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict

from afterd.execution.cache import OutcomeKey
from afterd.execution.executors.protocol import Attempt
from afterd.store.database import Reader, Store
from afterd.store.outcomes import outcome_from, signature_from, signature_text
from afterd.store.rows import Row, from_row, to_row
from afterd.store.text import Cell, loaded_text, stored_text

_KEY = "job_id = ? AND tree = ? AND test = ? AND command = ? AND environment = ?"


class StoredJournal:
    """The runs of one job; ``mask`` takes secrets out of what a test said."""

    def __init__(self, store: Store, job: int, mask: Callable[[str], str] = str) -> None:
        self._store = store
        self._job = job
        self._mask = mask

    @property
    def work(self) -> str:
        """The job's name."""
        return f"job {self._job}"

    def get(self, key: OutcomeKey, number: int) -> Attempt | None:
        """The ``number``-th run under ``key``, if this job made it."""
        with self._store.snapshot():
            rows = self._store.rows(
                f"SELECT * FROM run WHERE {_KEY} AND number = ?",  # noqa: S608 - our own words
                (*self._place(key).values(), number),
            )
            return _attempt(rows[0]) if rows else None

    def put(self, key: OutcomeKey, number: int, attempt: Attempt) -> None:
        """Keep a run, unless its signature holds a secret: masked it would match nothing.

        A run is progress: leases that ended before it no longer count against the job.
        """
        outcome, signature = attempt.outcome, attempt.outcome.signature
        said = [each.message for each in (signature, *attempt.failures) if each is not None]
        if any(self._mask(message) != message for message in said):
            return
        row = self._place(key) | {"number": number, "created": time.time()}
        row |= to_row(attempt, omit=("outcome", "failures"))
        row |= to_row(outcome, omit=("reason", "signature", "cached"))
        row |= {
            "detail": stored_text(self._mask(outcome.detail)),
            "reason": outcome.reason.value if outcome.reason else "",
            "signature": signature_text(signature),
            "failures": json.dumps([asdict(failure) for failure in attempt.failures]),
        }
        with self._store.transaction() as database:
            database.table("run").insert(row, replace=True)
            database.execute("UPDATE job SET stalls = 1 WHERE id = ?", (self._job,))

    def _place(self, key: OutcomeKey) -> dict[str, Cell]:
        return {"job_id": self._job} | {
            name: stored_text(text) for name, text in asdict(key).items()
        }


def attempts_of(reader: Reader, job: int, key: OutcomeKey) -> list[Attempt]:
    """The runs that a job made of a test on a tree, in their order; builds alone are none."""
    with reader.snapshot():
        rows = reader.rows(
            f"SELECT * FROM run WHERE {_KEY} AND tests > 0 ORDER BY created, number",  # noqa: S608 - our own words
            (job, *map(stored_text, asdict(key).values())),
        )
        return [_attempt(row) for row in rows]


def _attempt(row: Row) -> Attempt:
    failures = (
        signature_from(json.dumps(each)) for each in json.loads(loaded_text(row["failures"]))
    )
    return from_row(Attempt, row, outcome=outcome_from(row), failures=tuple(filter(None, failures)))


def spent_since(
    reader: Reader, moment: float, job: int | None = None, *, but_for: str = ""
) -> tuple[float, int]:
    """Seconds of building and testing, and test runs, since a moment: all, or one job's.

    Runs of the test ``but_for`` are left out: who goes on with it after a kill is given them again.
    """
    [row] = reader.rows(
        "SELECT coalesce(sum(build_seconds + test_seconds), 0.0) AS seconds, "
        "coalesce(sum(tests), 0) AS runs FROM run "
        "WHERE created >= ? AND (? IS NULL OR job_id = ?) AND test <> ?",
        (moment, job, job, stored_text(but_for)),
    )
    assert isinstance(row["seconds"], float)
    assert isinstance(row["runs"], int)
    return row["seconds"], row["runs"]
