"""What the tables say of measurements."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from afterd.bench.judgement import Verdict
from afterd.bench.measurement import Measurement, summaries
from afterd.bench.tables import document, markdown, measurement_tables, text

FOUND = Measurement(
    case="brindle/pair",
    strategy="after",
    verdict=Verdict.MATCHED,
    changes=130,
    guilty=2,
    root=2,
    tests=5,
    floor=3,
    builds=7,
    solver_calls=12,
    seconds=8.25,
    memory=180_000_000,
    causes=3,
)
EXCESSIVE = replace(FOUND, case="b", verdict=Verdict.PARTIAL, root=6, auxiliary=2, tests=40)
NOTHING = replace(
    FOUND, case="c", verdict=Verdict.MISSED, root=0, tests=9, note="the budget | ended"
)
NOT_ASKED = Measurement("d", "after", Verdict.SKIPPED, note="skipped: no network", guilty=1)
BY_DD = replace(FOUND, strategy="dd", tests=90)


def test_a_summary_a_strategy() -> None:
    after, dd = summaries([FOUND, BY_DD, EXCESSIVE, NOTHING, NOT_ASKED])
    assert (after.strategy, after.asked) == ("after", 3)
    assert (after.matched, after.partial, after.missed) == (1, 1, 1)
    assert after.excess == pytest.approx((1 + 4) / 2)
    assert (after.tests, dd.tests) == (54, 90)
    assert (dd.strategy, dd.matched, dd.within) == ("dd", 1, (0, 0))


@pytest.mark.parametrize(("tests", "within"), [(3, (1, 1)), (5, (1, 1)), (6, (0, 1)), (7, (0, 0))])
def test_runs_are_counted_against_the_size_of_the_root(tests: int, within: tuple[int, int]) -> None:
    """A root of two changes: k + 3 is five, k + 4 is six."""
    (summary,) = summaries([replace(FOUND, tests=tests)])
    assert summary.within == within


def test_nothing_asked_has_no_median() -> None:
    (summary,) = summaries([NOT_ASKED])
    assert (summary.asked, summary.excess) == (0, 0.0)


def test_text_has_every_row_whole() -> None:
    lines = text(
        measurement_tables("fixtures", [FOUND, EXCESSIVE, NOTHING, NOT_ASKED])
    ).splitlines()
    assert lines[0] == "fixtures"
    (row,) = [line.split() for line in lines if line.startswith("brindle/pair")]
    assert row == [
        "brindle/pair",
        "after",
        "matched",
        "2/130",
        "2",
        "5/3",
        "7",
        "12",
        "3",
        "8.2",
        "180",
    ]
    assert any("6+2" in line for line in lines)
    assert sum("the budget | ended" in line for line in lines) == 1
    assert not any("…" in line for line in lines)


def test_markdown_is_a_table_whatever_a_note_says() -> None:
    rendered = (
        MarkdownIt()
        .enable("table")
        .render(
            markdown(
                measurement_tables(
                    "fixtures", [FOUND, NOTHING, replace(NOT_ASKED, note="<b>`|` @you")]
                )
            )
        )
    )
    assert rendered.count("<table>") == 3
    assert "<td>the budget | ended</td>" in rendered
    assert "<b>" not in rendered


def test_json_names_every_field() -> None:
    content = json.loads(document("fixtures", {"cores": 2}, [FOUND]))
    assert (content["bench"], content["machine"]) == ("fixtures", {"cores": 2})
    (row,) = content["rows"]
    assert row["verdict"] == "matched"
    assert row["tests"] == 5
    assert row["log"] == []
