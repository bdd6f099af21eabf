"""What people said of explanations: corrections that later answers are judged by."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum

from afterd.errors import UsageError
from afterd.model.change import ChangeId
from afterd.store.database import Reader, Store
from afterd.store.rows import from_row, to_row
from afterd.store.text import stored_text


class MarkKind(StrEnum):
    """What was said."""

    WRONG = "wrong"  # the root is not the cause
    FLAKY = "flaky"  # the test is flaky, whatever the answer
    CAUSE = "cause"  # these changes are


@dataclass(frozen=True, slots=True)
class Mark:
    """A user's word on an explanation; ``changes`` is the true root where the kind is CAUSE."""

    kind: MarkKind
    changes: tuple[ChangeId, ...] = ()
    note: str = ""
    created: float = 0.0


def add_mark(store: Store, identifier: int, mark: Mark) -> None:
    """Keep a mark; raises UsageError when there is no such explanation."""
    with store.transaction() as database:
        if not database.execute("SELECT 1 FROM explanation WHERE id = ?", (identifier,)).fetchone():
            raise UsageError(
                f"There is no explanation {identifier}. `afterd list` shows those there are."
            )
        row = {"explanation_id": identifier} | to_row(mark) | {"created": time.time()}
        database.table("mark").insert(row)


def marks(reader: Reader, identifier: int) -> list[Mark]:
    """The marks of an explanation, oldest first."""
    with reader.snapshot():
        rows = reader.rows("SELECT * FROM mark WHERE explanation_id = ? ORDER BY id", (identifier,))
        return [from_row(Mark, row) for row in rows]


def flaky_marks(reader: Reader, test: str) -> int:
    """On how many explanations of a test people said that it is flaky."""
    [row] = reader.rows(
        "SELECT count(DISTINCT e.id) AS n FROM mark m JOIN explanation e ON e.id = m.explanation_id "
        "WHERE e.test = ? AND m.kind = 'flaky'",
        (stored_text(test),),
    )
    return int(str(row["n"]))
