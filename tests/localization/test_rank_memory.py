"""What a ranking remembers: answers, and that there are none."""

from __future__ import annotations

from contextlib import closing

import pytest

from afterd.localization.votes.votes import Memory, NoVoteError


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


def test_techniques_share_an_encoding() -> None:
    with closing(Memory()) as memory:
        assert memory.solver(1.0) is memory.solver(2.0)
