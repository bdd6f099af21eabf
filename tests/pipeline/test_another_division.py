"""A range that is divided into other changes since it was explained: no other change is undone for that answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pipeline_runs import repository

from afterd.config import Settings
from afterd.errors import UsageError
from afterd.model.change import ChangeList
from afterd.model.location import LineSpan
from afterd.pipeline import explain
from afterd.pipeline.replay import expect_same_changes, revert_patch


def test_a_change_of_another_number_is_not_undone(tmp_path: Path) -> None:
    """translate: c2012 of an answer was a condition, and another hunk once moved files were renames."""
    good = {"test.sh": "grep -q right value\n", "value": "right\n", "other": "a\n"}
    repository(tmp_path / "r", good, {"value": "wrong\n", "other": "b\n"})
    settings = Settings(repository=tmp_path / "r", range="HEAD~1..HEAD", test=("sh", "test.sh"))
    [answer] = explain(settings)
    [guilty] = answer.root
    assert "+right" in revert_patch(settings, answer.id)
    expect_same_changes(answer, ChangeList((guilty,)))
    elsewhere = replace(guilty, file="other", new=LineSpan(7, 2))
    for now in ((), (elsewhere,)):
        with pytest.raises(UsageError, match=r"divided otherwise.*afterd explain [0-9a-f]+\.\."):
            expect_same_changes(answer, ChangeList(now))
