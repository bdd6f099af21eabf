"""Recordings that are found again after a kill, and only these."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import pytest

from afterd.model.outcome import FailureKind, FailureSignature, Outcome, Unresolved, Verdict
from afterd.trace.kept import NOTE, forget, keep, key_of, outcome_of, taken_up


def test_found_by_its_key_alone(tmp_path: Path) -> None:
    key = key_of("job 1", "tree", ("make", "check"))
    assert taken_up(tmp_path, key) is None
    keep(tmp_path, key, {"seconds": 1.5})
    assert taken_up(tmp_path, key) == {"seconds": 1.5}
    assert taken_up(tmp_path, key_of("job 2", "tree", ("make", "check"))) is None
    assert taken_up(tmp_path, key_of("job 1", "tree", ("make",))) is None


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(Verdict.PASS, test_seconds=0.5, warm=True),
        Outcome(Verdict.UNRESOLVED, Unresolved.ABORTED, "it said \udcff"),
        Outcome(Verdict.FAIL, signature=FailureSignature(FailureKind.CRASH, test="t")),
    ],
)
def test_what_a_run_showed_is_found_with_it(tmp_path: Path, outcome: Outcome) -> None:
    key = key_of("job 1")
    keep(tmp_path, key, {"outcome": asdict(outcome)})
    told = taken_up(tmp_path, key)
    assert told is not None
    assert outcome_of(told["outcome"]) == outcome


def test_nothing_is_kept_for_work_that_is_not_resumed(tmp_path: Path) -> None:
    keep(tmp_path, key_of("", "tree"), {})
    assert list(tmp_path.iterdir()) == []
    assert taken_up(tmp_path, "") is None


@pytest.mark.parametrize("text", ["", "{", '{"key": "'])
def test_a_note_that_was_cut_off_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / NOTE).write_text(text)
    assert taken_up(tmp_path, key_of("job 1")) is None


def test_what_is_old_is_forgotten(tmp_path: Path) -> None:
    places = ("traced/python/bad", "traced/good/run", "traced/good/replays/a1")
    for place in (*places, "traced/python/good", "slots/0/run"):
        (tmp_path / place).mkdir(parents=True)
        keep(tmp_path / place, key_of("job 1"), {})
        if place in places:
            os.utime(tmp_path / place / NOTE, (1000, 1000))
    forget(tmp_path, 2000)
    left = sorted(str(note.parent.relative_to(tmp_path)) for note in tmp_path.rglob(NOTE))
    assert left == ["slots/0/run", "traced/python/good"]
