"""What a ranking remembers: answers, and that there are none."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from afterd.localization.votes import formula_programs
from afterd.localization.votes.votes import Counted, Memory, NoVoteError
from afterd.model.entity import Invocation
from afterd.symbolic import TooLongError


def test_an_answer_is_found_out_once() -> None:
    asked = []

    def seven() -> int:
        asked.append(1)
        return 7

    memory = Memory()
    for _ in range(2):
        assert memory.once("q", seven) == 7
    assert asked == [1]


def test_that_there_is_none_is_remembered() -> None:
    asked = []

    def nothing() -> int:
        asked.append(1)
        raise NoVoteError("The run is too long.")

    memory = Memory()
    for _ in range(2):
        with pytest.raises(NoVoteError, match="too long"):
            memory.once("q", nothing)
    assert asked == [1]


def test_no_failed_test_is_executed_that_is_longer_than_one_that_was_too_long(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They come by their lengths: of a suite in which all tests hang one is tried, not each for ten seconds."""
    tried = []

    def too_long(*_asked: object) -> None:
        tried.append(1)
        raise TooLongError("the run has more than 300000 instructions")

    started = [(None, Invocation((f"./p{number}",))) for number in range(3)]
    monkeypatch.setattr(formula_programs, "_started_programs", lambda _counted: started)
    monkeypatch.setattr(formula_programs, "_good_programs", lambda *_given: None)
    monkeypatch.setattr(formula_programs, "CountedLines", lambda *_given: None)
    monkeypatch.setattr(formula_programs, "_failing", too_long)
    options, workspace = SimpleNamespace(invariant=""), SimpleNamespace(state=tmp_path)
    counted = cast(
        "Counted",
        SimpleNamespace(memory=Memory(), options=options, workspace=workspace, spectrum=None),
    )
    with pytest.raises(NoVoteError, match=r"p0 cannot be followed \(the run has more than 300000"):
        formula_programs.failing_inputs(counted)
    assert tried == [1]


def test_techniques_share_an_encoding() -> None:
    with closing(Memory()) as memory:
        assert memory.solver(1.0) is memory.solver(2.0)
