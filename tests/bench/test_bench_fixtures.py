"""The whole way of ``afterd bench fixtures`` on the paper's example."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from afterd.bench import trial
from afterd.bench.case import selected_cases
from afterd.bench.fixtures import FixtureCase, fixture_cases
from afterd.bench.judgement import Verdict
from afterd.cli.boundary import run
from afterd.cli.main import afterd
from afterd.config import Budget, Strategy
from afterd.errors import UsageError


def named(*names: str) -> list[FixtureCase]:
    return selected_cases(fixture_cases(), names)


def test_names_are_fixtures_or_scenarios() -> None:
    assert [case.name for case in named("critical", "after-example")] == [
        "after-example",
        "critical",
    ]
    assert [case.name for case in named("brindle/crash")] == ["brindle/crash"]
    every = [case.name for case in named()]
    assert set(every) > {case.name for case in named("brindle")}
    assert "schedule-lab" not in every  # has versions, and no two commits


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="brindle/crash"):
        named("brindle/clash")


def test_the_paper_s_example_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two strategies, each in a process of its own, with what was tried and what it cost."""
    output = tmp_path / "bench.json"
    arguments = ["bench", "fixtures", "after-example", "--strategy", "after", "--strategy", "dd"]
    status = run(afterd, [*arguments, "-v", "--format", "json", "-o", str(output)])
    said = capsys.readouterr().err
    assert status == 0, said
    content = json.loads(output.read_text())
    after, dd = content["rows"]
    assert (after["verdict"], after["root"], after["changes"]) == ("matched", 2, 4)
    assert after["floor"] == 3
    assert after["causes"] == 2
    assert after["events"] > 10
    assert after["solver_calls"] > 0
    assert 10e6 < after["memory"] < 4e9
    assert 0 < after["seconds"] < 300
    assert (dd["verdict"], dd["strategy"]) == ("missed", "dd")  # isolates a change, repairs nothing
    for row in (after, dd):
        tried = [line for line in row["log"] if " run " in line]
        assert tried
        assert all(line in said for line in tried)


def test_a_process_without_an_answer_is_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not end the bench, and nothing of it is left behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(trial, "_GRACE_SECONDS", 0.0)
    options = trial.Options([Strategy.AFTER], budget=Budget(seconds=0.3))
    (row,) = trial.measurements(named("critical"), options)
    assert row.verdict is Verdict.MISSED
    assert "ran longer than its time limit" in row.note
    assert list(tmp_path.iterdir()) == []
