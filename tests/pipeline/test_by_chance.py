"""An answer that names data alone is run again until chance is next to impossible."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from pipeline_runs import repository

from afterd.config import Settings
from afterd.execution.flakiness import Prior, further_runs, runs_of_both_ends
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
    assert found.runs.confirmation == sum(further_runs(Prior(), 0, 0)) == 9


def test_what_was_run_anyway_counts(tmp_path: Path) -> None:
    """The answer is run in a process of its own and recorded: of nine runs that agree, six are made before."""
    code = "from pathlib import Path\n\n\ndef word():\n    return Path('notes.txt').read_text().strip()\n"
    test = "from lib import word\n\n\ndef test_word():\n    assert word() == 'good'\n"
    good = {"lib.py": code, "test_lib.py": test, **GOOD}
    path = repository(
        tmp_path / "r", good, {"lib.py": code.replace(".strip()", ".rstrip()"), **BAD}
    )
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    [found] = explain(Settings(path, range="HEAD~1..HEAD", test=command))
    assert found.status is Status.EXPLAINED
    assert [change.file for change in found.root] == ["notes.txt"]
    assert found.runs.confirmation == 3 + 3


def test_a_program_that_no_tracer_looked_at_is_run_a_little_more_often(tmp_path: Path) -> None:
    path = repository(tmp_path / "r", {"run.sh": "exit 0\n"}, {"run.sh": "exit 1\n"})
    found = _explained(path, "sh run.sh")
    assert found.status is Status.EXPLAINED
    assert found.runs.confirmation == 2 * runs_of_both_ends(Prior(), likely=True) == 6


LIB = """\
import time

PAUSE = 0.001


def total(count):
    time.sleep(PAUSE)
    return 3 * count
"""
FALSE = """\
import os
from pathlib import Path

from lib import total


def test_total():
    runs = Path(os.environ["RUNS_OF_TEST"])
    ends = runs.read_text()
    runs.write_text(ends[1:])
    assert total(4) == (13 if ends[:1] == "F" else 12)
"""
TRUE = "from lib import total\n\n\ndef test_total():\n    assert total(4) == 12\n"


def _in_pytest(path: Path, test: str, bad: str) -> Explanation:
    made = repository(path, {"lib.py": LIB, "test_lib.py": test}, {"lib.py": bad})
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    [found] = explain(Settings(made, range="HEAD~1..HEAD", test=command))
    return found


@pytest.mark.parametrize(
    "ends",
    [
        "FP" + 20 * "P",  # the recorded run of the bad version passes
        "FPF" + 20 * "P",  # it fails, by what no change did
        "FPFF" + 20 * "P",
    ],
)
def test_no_executed_change_is_blamed_for_what_a_recording_shows_was_not_its_doing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    """The test ends as the letters say, whatever the version; the change is run, with another value."""
    runs = tmp_path / "runs"
    runs.write_text(ends)
    monkeypatch.setenv("RUNS_OF_TEST", str(runs))
    found = _in_pytest(tmp_path / "r", FALSE, LIB.replace("0.001", "0.002"))
    assert found.status is Status.FLAKY, found.tree
    assert not found.root


def test_what_a_recording_shows_is_not_run_more_often(tmp_path: Path) -> None:
    found = _in_pytest(tmp_path / "r", TRUE, LIB.replace("3 * count", "4 * count"))
    assert found.status is Status.EXPLAINED
    assert [change.file for change in found.root] == ["lib.py"]
    assert (
        found.runs.confirmation == 3
    )  # both ends, which are recorded too, and the answer outside a warm process


@pytest.mark.parametrize(
    ("prior", "runs"),
    [(Prior(), 5), (Prior(flaky=0.9), 6), (Prior(alpha=9.0), 4), (Prior(0.5, 2.0, 2.0), 5)],
)
def test_how_many_runs_tell_chance_from_cause(prior: Prior, runs: int) -> None:
    """A test that nearly always fails is seldom green so often; a doubtful one is asked more often."""
    assert runs_of_both_ends(prior) == runs
