"""Rows that are kept as they are made: the whole table is the sum of its parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from explanation_samples import RUNNING_EXAMPLE

from afterd.bench.judgement import Verdict
from afterd.bench.kept_rows import kept_rows, rows_kept_in
from afterd.bench.measurement import Measurement
from afterd.bench.tables import text, trees
from afterd.bench.tree_facts import tree_facts
from afterd.errors import UsageError

COST = {"solving": 3.0, "tracing the twin": 0.5, "putting the story together": 0.25}
FIRST = Measurement(
    "after-example", "after", Verdict.MATCHED, language="C", cpu=COST,
    tree=tree_facts(RUNNING_EXAMPLE, COST),
)  # fmt: skip
SECOND = replace(FIRST, case="sluice/slice", verdict=Verdict.MISSED, note="none", tree=None)


def test_what_is_kept_is_what_was_measured(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assert kept_rows(path) == []
    assert list(rows_kept_in([FIRST], path)) == [FIRST]
    assert list(rows_kept_in([SECOND], path)) == [SECOND]
    assert kept_rows(path) == [FIRST, SECOND]
    assert list(rows_kept_in([replace(SECOND, note="again")], path))
    assert [row.note for row in kept_rows(path)] == ["", "again"]


def test_a_line_that_was_cut_short_is_no_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    list(rows_kept_in([FIRST, SECOND], path))
    path.write_text(path.read_text()[:-20])
    assert kept_rows(path) == [FIRST]


@pytest.mark.parametrize(
    "content", ["{}\n", "[1]\n", "no row\n", '{"case": "x", "verdict": "?"}\n']
)
def test_a_file_of_something_else(tmp_path: Path, content: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(content)
    with pytest.raises(UsageError, match="no rows of this version"):
        kept_rows(path)


def test_totals_by_language() -> None:
    """A case that did not match counts against every goal; one that was skipped was not asked."""
    skipped = replace(SECOND, case="none", verdict=Verdict.SKIPPED, language="")
    python = replace(FIRST, case="sluice/slice", language="Python")
    shown = text(trees("trees", [FIRST, SECOND, python, skipped])).splitlines()
    (c,) = (line.split() for line in shown if line.startswith("C "))
    (other,) = (line.split() for line in shown if line.startswith("Python "))
    assert c[:6] == ["C", "2", "1", "1/1", "1/1", "1/1"]
    assert other[:3] == ["Python", "1", "1"]
    assert c[-3:] == ["25", "%", "1/1"]
