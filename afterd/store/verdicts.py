"""What the daemon found of each failing test at a commit."""

from __future__ import annotations

import time
from dataclasses import dataclass

from afterd.store.database import Reader, Store
from afterd.store.repositories import repository_id
from afterd.store.rows import from_row, to_row
from afterd.store.text import stored_text


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """A verdict on ``test`` at ``commit_id``, compared with ``base``.

    ``kind`` is a member of ``report.verdicts.VerdictKind``; ``rate`` is how often a flaky test
    shows its other outcome (0 to 1; None: it is not flaky), and ``runs`` on how many runs at the
    commit the verdict rests. ``explanation_id`` leads to root and tree, where there are any.
    """

    commit_id: str
    base: str
    test: str
    kind: str
    rate: float | None = None
    runs: int = 0
    explanation_id: int | None = None
    reason: str = ""


def keep_verdict(store: Store, repository: str, verdict: StoredVerdict) -> None:
    """Store a verdict, once a test and commit: the first one stays."""
    with store.transaction() as database:
        row = to_row(verdict) | {
            "repository_id": repository_id(database, repository),
            "created": time.time(),
        }
        database.table("verdict").insert(row, ignore=True)


def verdicts_at(reader: Reader, repository: str, commit: str) -> list[StoredVerdict]:
    """The verdicts on a commit's failing tests, in the order they were found."""
    with reader.snapshot():
        rows = reader.rows(
            """SELECT v.* FROM verdict v JOIN repository r ON r.id = v.repository_id
               WHERE r.path = ? AND v.commit_id = ? ORDER BY v.id""",
            (stored_text(repository), commit),
        )
        return [from_row(StoredVerdict, row) for row in rows]
