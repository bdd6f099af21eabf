"""The outbox: what is to be posted at a forge, by a process that does nothing else.

The daemon, which runs tests, holds no token; it adds a row and writes the artefact beside it. The
posting process, which holds the token, reads rows and artefacts and never opens the repository.
An artefact is the document of ``afterd explain --format json`` with a list ``verdicts`` and the
tested ``commit`` added: what ``afterd comment --from FILE`` reads. Posting twice must be harmless,
because a poster can die between the forge's answer and ``mark_sent``: it finds its own comment by a
hidden marker.

The daemon starts the poster before it runs anything, as ``afterd comment --outgoing FILE`` with
its own environment and FILE a pipe (``-``: standard input). Each line of it is the path of a
database in which rows are due; the poster works through ``due_postings`` of that database after each line,
and ends with the pipe. The daemon then drops the secrets of its environment and goes on.

State: queued → sent | failed, or dropped where a newer row of the same pull request took its place.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum

from afterd.store.database import Reader, Store
from afterd.store.rows import from_row, to_row
from afterd.store.text import Cell, stored_text


class OutgoingState(StrEnum):
    """Where a row of the outbox is."""

    QUEUED = "queued"
    SENT = "sent"
    FAILED = "failed"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A comment to be posted.

    ``forge`` is an address without a path, ``project`` what follows in the remote's address.
    ``number`` is the pull request's; 0: the open one whose head is ``commit_id``. ``body`` is the
    artefact's path, ``url`` the comment's address once it is there. ``id`` is 0 until it is added.
    """

    key: str
    forge: str
    project: str
    branch: str
    commit_id: str
    number: int
    body: str
    explanation_id: int | None = None
    id: int = 0
    state: OutgoingState = OutgoingState.QUEUED
    attempts: int = 0
    not_before: float = 0.0
    url: str = ""
    reason: str = ""


def add_outgoing(store: Store, outgoing: Outgoing) -> None:
    """Put a comment into the outbox, once a key; older ones of the same branch are dropped."""
    now = time.time()
    with store.transaction() as database:
        known = database.execute(
            "SELECT 1 FROM outgoing WHERE key = ?", (stored_text(outgoing.key),)
        )
        if known.fetchone():
            return
        database.execute(
            """UPDATE outgoing SET state = 'dropped', reason = 'a newer commit took its place',
                   updated = ? WHERE state = 'queued' AND forge = ? AND project = ? AND branch = ?
                   AND number = ?""",
            (now, outgoing.forge, outgoing.project, stored_text(outgoing.branch), outgoing.number),
        )
        row = to_row(outgoing, omit=("id",)) | {"created": now, "updated": now}
        database.table("outgoing").insert(row)


def due_postings(reader: Reader, now: float | None = None) -> list[Outgoing]:
    """What is to be posted now, oldest first."""
    with reader.snapshot():
        rows = reader.rows(
            "SELECT * FROM outgoing WHERE state = 'queued' AND not_before <= ? ORDER BY id",
            (time.time() if now is None else now,),
        )
        return [from_row(Outgoing, row) for row in rows]


def outgoing_of(reader: Reader, forge: str, project: str, branch: str) -> list[Outgoing]:
    """Every row of a branch, oldest first."""
    with reader.snapshot():
        rows = reader.rows(
            "SELECT * FROM outgoing WHERE forge = ? AND project = ? AND branch = ? ORDER BY id",
            (forge, project, stored_text(branch)),
        )
        return [from_row(Outgoing, row) for row in rows]


def mark_sent(store: Store, identifier: int, url: str) -> None:
    """It is posted; ``url`` is the comment's address (empty: there was nothing to say)."""
    _update(store, identifier, state=OutgoingState.SENT.value, url=url, reason="")


def mark_failed(store: Store, identifier: int, reason: str) -> None:
    """It will never be posted (a revoked token, a closed pull request)."""
    _update(store, identifier, state=OutgoingState.FAILED.value, reason=stored_text(reason))


def retry(store: Store, identifier: int, seconds: float, reason: str) -> None:
    """It could not be posted now: try again in so many seconds."""
    _update(store, identifier, not_before=time.time() + seconds, reason=stored_text(reason))


def _update(store: Store, identifier: int, **columns: Cell) -> None:
    names = ", ".join(f"{name} = :{name}" for name in columns)
    with store.transaction() as database:
        database.execute(
            f"UPDATE outgoing SET {names}, attempts = attempts + 1, updated = :now WHERE id = :id",  # noqa: S608 - our own column names
            columns | {"now": time.time(), "id": identifier},
        )
