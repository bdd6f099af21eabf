"""An answer that names data alone is run again until chance is next to impossible."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from pipeline_runs import repository

from afterd.config import Settings
from afterd.execution.flakiness import Prior, runs_of_both_ends
from afterd.model.explanation import Explanation, Status
from afterd.pipeline.explain import explain

GOOD, BAD = {"notes.txt": "good\n"}, {"notes.txt": "bad\n"}


def _explained(path: Path, script: str) -> Explanation:
    [found] = explain(Settings(path, range="HEAD~1..HEAD", test=("sh", "-c", script)))
    return found


@pytest.mark.parametrize("red_runs", [2, 3])
def test_a_test_that_was_red_and_then_green_by_chance_names_nobody(
    tmp_path: Path, red_runs: int
) -> None:
    """It fails in its first runs, whatever the version: the bad one is confirmed first."""
    path = repository(tmp_path / "r", GOOD, BAD)
    count = shlex.quote(str(tmp_path / "count"))
    found = _explained(path, f"echo run >> {count}; test $(wc -l < {count}) -gt {red_runs}")
    assert found.status is Status.FLAKY
    assert not found.root


def test_data_that_is_guilty_is_named(tmp_path: Path) -> None:
    path = repository(tmp_path / "r", GOOD, BAD)
    found = _explained(path, "grep -q good notes.txt")
    assert found.status is Status.EXPLAINED
    assert [change.file for change in found.root] == ["notes.txt"]
    assert found.runs.confirmation == 2 * runs_of_both_ends(Prior())


def test_a_program_that_is_guilty_is_not_run_more_often(tmp_path: Path) -> None:
    path = repository(tmp_path / "r", {"run.sh": "exit 0\n"}, {"run.sh": "exit 1\n"})
    found = _explained(path, "sh run.sh")
    assert found.status is Status.EXPLAINED
    assert found.runs.confirmation == 4


@pytest.mark.parametrize(
    ("prior", "runs"),
    [(Prior(), 5), (Prior(flaky=0.9), 6), (Prior(alpha=9.0), 4), (Prior(0.5, 2.0, 2.0), 5)],
)
def test_how_many_runs_tell_chance_from_cause(prior: Prior, runs: int) -> None:
    """A test that nearly always fails is seldom green so often; a doubtful one is asked more often."""
    assert runs_of_both_ends(prior) == runs
