"""The same question asked again in one repository: what is remembered saves runs, and changes nothing else."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from pipeline_runs import repository

from afterd.causality.worth import run_work
from afterd.config import Budget, Settings
from afterd.model.change import ChangeSet
from afterd.model.explanation import Explanation, Status
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.model.progress import Silent
from afterd.pipeline import search
from afterd.pipeline.explain import explain

LINES = [
    "def price(n): return n * RATE",
    "def fee(n): return n + EXTRA",
    "def total(n): return price(n) + fee(n)",
    "def shown(n): return f'{total(n)} in all'",
]
GAP = "\n\n\nUNUSED = {}\n\n\n"
GOOD = GAP.join(["RATE = 2", "EXTRA = 1", *LINES]) + "\n"
BAD = GAP.join(["RATE = 3", "EXTRA = 0", *(line.replace("(n) +", "(n + 0) +") for line in LINES)])
TEST = "from ops import shown\n\n\ndef test_shown():\n    assert shown(5) == '16 in all'\n"
NEEDS_NEW = "\n\ndef test_late():\n    assert late() == 1\n"
OLDER = {"ops.py": GOOD, "test_ops.py": TEST}
NEWER = {
    "same tests": {"ops.py": BAD},
    "older tests": {
        "ops.py": BAD + GAP + "def late(): return 1\n",
        "test_ops.py": TEST.replace("shown\n", "late, shown\n", 1) + NEEDS_NEW,
    },
}
"""With the second one's tests the good one cannot be run: it is asked with older ones before it is confirmed."""

Tried = tuple[ChangeSet, Verdict, Unresolved | None]


class Heard(Silent):
    """What was asked of the solver and which sets were tried, in order."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.tried_sets: list[Tried] = []

    def stage(self, name: str, detail: str = "") -> None:
        """Keep what was solved."""
        if name == "solving":
            self.asked.append(detail)

    def tried(self, reverted: ChangeSet, outcome: Outcome, runs: int) -> None:  # noqa: ARG002 - as the protocol has it
        """Keep it, whether it was run or known."""
        self.tried_sets.append((reverted, outcome.verdict, outcome.reason))


def explained(settings: Settings) -> tuple[Explanation, Heard]:
    heard = Heard()
    [found] = explain(settings, heard)
    assert found.status is Status.EXPLAINED, found.reason
    return found, heard


@pytest.mark.parametrize("newer", NEWER.values(), ids=NEWER)
def test_the_same_sets_are_tried(
    newer: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worth: set[int] = set()

    def noted_work(cpu: float) -> int:
        worth.add(run_work(cpu))
        return run_work(cpu)

    monkeypatch.setattr(search, "run_work", noted_work)
    where = repository(tmp_path / "r", OLDER, newer)
    command = (sys.executable, "-m", "pytest", "-q", "test_ops.py::test_shown")
    plain = Settings(repository=where, test=command, range="HEAD~1..HEAD")
    first, heard = explained(plain)
    assert first.runs.tests > 0
    for budget in (Budget(), Budget(seconds=300.0)):
        again, then = explained(replace(plain, budget=budget))
        assert again.runs.tests < first.runs.tests
        assert then.asked == heard.asked
        assert _searched_sets(then) == _searched_sets(heard)
        assert (again.root, again.auxiliary, again.minimal) == (
            first.root,
            first.auxiliary,
            first.minimal,
        )
        assert again.tree == first.tree
        assert again.runs.interventions == first.runs.interventions
    assert len(worth) == 1


def _searched_sets(heard: Heard) -> list[Tried]:
    """Each once: an answer that only warm processes saw is confirmed, and one that was confirmed is not."""
    return list(dict.fromkeys(heard.tried_sets))
