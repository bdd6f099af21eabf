"""What an answer does to other tests, in a real suite: it repairs some, and may spoil some."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from pipeline_runs import repository

from afterd.config import Settings
from afterd.model.progress import Silent
from afterd.pipeline.broken import which_broke
from afterd.pipeline.elsewhere import Elsewhere, outcomes_elsewhere
from afterd.workspace import opened_workspace, wanted_range

GOOD = {
    "one.py": "ONE = 1\n",
    "two.py": "TWO = 1\n",
    "test_it.py": """
from one import ONE
from two import TWO

def test_broke(): assert ONE == 1
def test_broke_too(): assert ONE < 2
def test_alike(): assert ONE == TWO
def test_whole(): assert ONE == int(ONE)
""",
}


def test_a_repair_that_spoils_what_passes_at_both_ends_is_told(tmp_path: Path) -> None:
    path = tmp_path / "r"
    repository(path, GOOD, {"one.py": "ONE = 2\n", "two.py": "TWO = 2\n"})
    settings = replace(Settings(path), python=sys.executable)
    with opened_workspace(settings) as workspace:
        wanted = wanted_range(workspace, settings)
        broken = which_broke(workspace, settings, wanted, Silent())
        first, second = (test.recipe.test_id for test in broken.tests)
        change = next(each.id for each in wanted.changes.live if each.file == "one.py")
        found = outcomes_elsewhere(
            workspace,
            wanted,
            broken.suite,
            frozenset({change}),
            first,
            [second],
            broken.green,
            Silent(),
        )
    assert found == Elsewhere((second,), ("test_it.py::test_alike",))
    assert "test_it.py::test_alike" in found.note()
    assert not Elsewhere((second,)).note()
