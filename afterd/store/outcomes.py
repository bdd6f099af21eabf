"""The outcome cache of ``execution.cache`` in the database: nothing is run twice, ever.

Keys hold digests of commands and environment, so that a changed one never meets an old answer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict

from afterd.execution.cache import BUILD_ONLY, OutcomeKey
from afterd.model.outcome import FailureSignature, Outcome, Unresolved
from afterd.store.database import Store
from afterd.store.rows import Row, from_row, to_row
from afterd.store.text import Cell, loaded_text, stored_text

_APART = ("reason", "signature", "cached")
_LACKING: Mapping[str, Cell] = {"warm": 0, "cpu": 0.0}
"""What the table of builds has no columns for."""


class StoredOutcomes:
    """Keeps outcomes in a store; ``mask`` takes secrets out of what a test said."""

    def __init__(self, store: Store, mask: Callable[[str], str] = str) -> None:
        self._store = store
        self._mask = mask

    def get(self, key: OutcomeKey) -> Outcome | None:
        """The outcome under ``key``, if one is kept."""
        table, columns = _place(key)
        condition = " AND ".join(f"{name} = ?" for name in columns)
        query = f"SELECT * FROM {table} WHERE {condition}"  # noqa: S608 - names of our own
        with self._store.snapshot():
            rows = self._store.rows(query, list(columns.values()))
            return outcome_from(rows[0]) if rows else None

    def failure(self, tree: str, test: str) -> FailureSignature | None:
        """The failure that ``test`` was last seen to have on ``tree``, wherever it was run."""
        query = (
            "SELECT * FROM outcome WHERE tree = ? AND test = ? AND signature != ''"
            " ORDER BY created DESC LIMIT 1"
        )
        with self._store.snapshot():
            rows = self._store.rows(query, [stored_text(tree), stored_text(test)])
            return outcome_from(rows[0]).signature if rows else None

    def put(self, key: OutcomeKey, outcome: Outcome) -> None:
        """Keep ``outcome``, unless its signature holds a secret: masked it would match nothing."""
        signature = outcome.signature
        if signature is not None and self._mask(signature.message) != signature.message:
            return
        table, columns = _place(key)
        apart = _APART if table == "outcome" else (*_APART, *_LACKING)
        row = columns | to_row(outcome, omit=apart) | {"created": time.time()}
        row["detail"] = stored_text(self._mask(outcome.detail))
        row["reason"] = outcome.reason.value if outcome.reason else ""
        row["signature"] = signature_text(signature)
        with self._store.transaction() as database:
            database.table(table).insert(row, replace=True)


def _place(key: OutcomeKey) -> tuple[str, dict[str, Cell]]:
    """The table that a key belongs to, and its columns there: one build serves many tests."""
    columns = {name: stored_text(value) for name, value in asdict(key).items()}
    if key.test != BUILD_ONLY:
        return "outcome", dict(columns)
    return "build", {name: value for name, value in columns.items() if name != "test"}


def outcome_from(row: Row) -> Outcome:
    """The outcome in a row of the tables outcome, build and run."""
    reason = loaded_text(row["reason"])
    return from_row(
        Outcome,
        {**_LACKING, **row},
        reason=Unresolved(reason) if reason else None,
        signature=signature_from(loaded_text(row["signature"])),
        cached=False,
    )


def signature_text(signature: FailureSignature | None) -> str:
    """A signature as JSON; empty where there is none."""
    return json.dumps(asdict(signature)) if signature else ""


def signature_from(text: str) -> FailureSignature | None:
    """A signature from its JSON, which knew no lines before they were compared."""
    return from_row(FailureSignature, {"differing": ""} | json.loads(text)) if text else None
