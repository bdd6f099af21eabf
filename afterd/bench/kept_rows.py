"""Rows of a benchmark kept as they are made, one line of JSON each: what was measured is not run again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from afterd.bench.judgement import Verdict
from afterd.bench.measurement import Measurement
from afterd.bench.tree_facts import TreeFacts
from afterd.errors import UsageError

_LEFT_OUT = frozenset({"log", "choices"})
"""What no table shows, and is long."""


def kept_rows(path: Path) -> list[Measurement]:
    """The rows of a file, of each case the last one; a line that was cut short is none.

    Raises UsageError for a file whose rows are none of this version's.
    """
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    try:
        rows = [_row(json.loads(line)) for line in lines if line.endswith("\n")]
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        raise UsageError(f"{path} has no rows of this version of afterd: {error}.") from error
    return list({row.case: row for row in rows}.values())


def rows_kept_in(rows: Iterable[Measurement], path: Path) -> Iterator[Measurement]:
    """The same rows, each written to the file as soon as it is there."""
    for row in rows:
        written = {name: value for name, value in asdict(row).items() if name not in _LEFT_OUT}
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(written, ensure_ascii=False) + "\n")
        yield row


def _row(read: dict[str, Any]) -> Measurement:
    known = {field.name for field in fields(Measurement)} - _LEFT_OUT
    given = {name: value for name, value in read.items() if name in known}
    tree = given.get("tree")
    given["tree"] = TreeFacts(**tree) if tree else None
    return Measurement(**{**given, "verdict": Verdict(given["verdict"])})
