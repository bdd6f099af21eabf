"""Ranked suites in the database: the head of each ranking is kept."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from afterd import __version__
from afterd.store.database import Store
from afterd.store.repositories import repository_id
from afterd.store.text import stored_text

KEPT = 200
"""Lines kept of a ranking."""


class RankedLine(Protocol):
    """A line of a ranking, as whoever made it has it."""

    @property
    def rank(self) -> int: ...  # noqa: D102 - the columns of suite_ranking_line say it
    @property
    def score(self) -> float: ...  # noqa: D102 - likewise
    @property
    def file(self) -> str: ...  # noqa: D102 - likewise
    @property
    def line(self) -> int: ...  # noqa: D102 - likewise
    @property
    def function(self) -> str: ...  # noqa: D102 - likewise
    @property
    def change(self) -> str: ...  # noqa: D102 - likewise
    @property
    def text(self) -> str: ...  # noqa: D102 - likewise


@dataclass(frozen=True, slots=True)
class SuiteRanking:
    """A ranked suite; ``good`` is empty where no range was given, ``lines`` are by technique."""

    good: str
    bad: str
    suite: str
    tests: int
    failed: int
    entities: int
    notes: tuple[str, ...] = ()
    lines: Mapping[str, Sequence[RankedLine]] = field(default_factory=dict)


def save_ranking(store: Store, repository: str, ranking: SuiteRanking) -> int:
    """Keep a ranked suite, all or nothing; its number."""
    with store.transaction() as database:
        row = {
            "repository_id": repository_id(database, repository),
            "good": ranking.good,
            "bad": ranking.bad,
            "suite": stored_text(ranking.suite),
            "created": time.time(),
            "afterd": __version__,
            "tests": ranking.tests,
            "failed": ranking.failed,
            "entities": ranking.entities,
            "notes": json.dumps(ranking.notes),
        }
        number = int(str(database.table("suite_ranking").insert(row).last_pk))
        for technique, lines in ranking.lines.items():
            database.table("suite_ranking_line").insert_all(
                _row(number, technique, position, line)
                for position, line in enumerate(lines[:KEPT])
            )
        return number


def _row(number: int, technique: str, position: int, line: RankedLine) -> dict[str, object]:
    return {
        "ranking_id": number,
        "technique": technique,
        "position": position,
        "rank": line.rank,
        "score": line.score if math.isfinite(line.score) else None,
        "file": stored_text(line.file),
        "line": line.line,
        "function": stored_text(line.function),
        "change": line.change,
        "text": stored_text(line.text),
    }
