"""The simulated search: it finds the guilty changes, and no fewer runs than any search needs."""

from __future__ import annotations

from math import log2

import pytest
from click.testing import CliRunner

from afterd.bench.simulation import QUALITIES, Simulated, simulated_rows, total_seconds
from afterd.cli.bench_simulation import command


def test_the_guilty_changes_are_found_at_a_few_times_the_floor() -> None:
    rows = list(simulated_rows([8, 60], [1, 2], repeats=3, seed=1))
    assert len(rows) == 2 * 2 * len(QUALITIES)
    assert [row.wrong for row in rows] == [0] * len(rows)
    for row in rows:
        assert row.floor >= row.guilty + 1
        assert row.runs <= 6 * row.floor
    blind, good = rows[-3], rows[-1]
    assert good.runs < blind.runs, "evidence saves runs"


@pytest.mark.parametrize(
    ("test", "seconds"),
    [
        (300.0, 3 * 300.0 + 10.0),  # what is dear to run is worth the evidence
        # what is cheap is run, after evidence of what all runs cost at a quarter of a second each
        (0.05, 20 * 0.05 + 0.25 * (2 * log2(1001) + 3)),
    ],
)
def test_evidence_is_paid_for_where_runs_are_dear(test: float, seconds: float) -> None:
    blind = Simulated(1000, 1, "none", 20.0, 10.0, 0)
    good = Simulated(1000, 1, "good", 3.0, 2.0, 0)
    assert total_seconds(good, blind, test, evidence=10.0) == pytest.approx(seconds)
    assert total_seconds(blind, blind, test, evidence=10.0) == pytest.approx(20 * test)


def test_the_table_has_a_column_for_each_test() -> None:
    arguments = ["--changes", "6", "--guilty", "1", "--repeats", "1", "--format", "md"]
    found = CliRunner().invoke(command, arguments)
    assert found.exit_code == 0, found.output
    assert "300 s" in found.stdout
    assert "| none " in found.stdout
