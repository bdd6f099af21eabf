"""The JSON contract read back, as data that nobody vouches for.

A job without secrets explains a pull request of a stranger and leaves a file; the job that holds a
token reads it here. The file may have been written by the stranger's code: every value is checked
for its type, its form and its size, a path cannot leave the repository, and what is not known is
passed over. No text of it is ever anything but quoted (see ``sanitize``).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import NoReturn

from afterd.errors import UsageError
from afterd.limits import MIB, RECEIVED
from afterd.model.explanation import Explanation
from afterd.report.json import COMMIT, COMMIT_IS, SCHEMA, explanation_received, revisions
from afterd.report.received_values import Item
from afterd.report.verdicts import TestVerdict, VerdictKind, verdicts_of

LARGEST = RECEIVED.document
DEEPEST = RECEIVED.deepest


@dataclass(frozen=True, slots=True)
class Received:
    """What a file says: explanations, verdicts (theirs, where it has none), the tested commit."""

    explanations: tuple[Explanation, ...]
    verdicts: tuple[TestVerdict, ...]
    commit: str


def received_document(data: bytes, name: str) -> Received:
    """The document in ``data``; ``name`` is its file's, for the sentence of a UsageError."""
    try:
        if len(data) > LARGEST:
            _refuse(f"it must have at most {LARGEST // MIB} MiB")
        return _document(Item(json.loads(data, parse_constant=_no_number), ""))
    except (ValueError, RecursionError) as error:
        # UnicodeDecodeError and JSONDecodeError are ValueErrors, and so is a number of 5,000 digits
        raise UsageError(
            f"{name} is not what `afterd explain --format json` writes ({error}); nothing is posted."
        ) from error


def _document(top: Item) -> Received:
    if top["schema"].integer() != SCHEMA:
        _refuse(f"its schema must be {SCHEMA}")
    whole = revisions(top["range"]) if top["range"] else None
    explanations = tuple(
        explanation_received(item, whole) for item in top["explanations"].items(RECEIVED.tests)
    )
    verdicts = tuple(map(_verdict, top["verdicts"].items(RECEIVED.tests)))
    commit = top["commit"].matching(COMMIT, COMMIT_IS) if top["commit"] else ""
    return Received(
        explanations,
        verdicts or verdicts_of(explanations),
        commit or (whole.bad if whole else ""),
    )


def _verdict(item: Item) -> TestVerdict:
    rate = item["rate"].real() if item["rate"] else None
    if rate is not None and not 0.0 <= rate <= 1.0:
        _refuse(f"{item['rate'].where} must be from 0 to 1")
    return TestVerdict(
        item["test"].text(), item["kind"].one_of(VerdictKind), rate, item["reason"].text()
    )


def _no_number(text: str) -> NoReturn:
    _refuse(f"{text} is no number of JSON")


def _refuse(why: str) -> NoReturn:
    raise ValueError(why)
