"""The fusion of several voters, as one voter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from afterd.localization.examination import Line
from afterd.localization.votes.voters import VOTERS, FusedVoter
from afterd.localization.votes.votes import Counted, Votes

A, B = ("f.c", 1), ("f.c", 2)
NOTHING: Any = None


def counted() -> Counted:
    """Nothing: these voters do not look. What was voted is remembered in it."""
    return Counted(NOTHING, NOTHING, "", NOTHING)


@dataclass(frozen=True, slots=True)
class Fixed:
    scores: Mapping[Line, float]
    missing: str = ""
    share: float = 1.0

    def __call__(self, _counted: Counted, /) -> Votes:
        return Votes(self.scores, share=self.share)

    def lacks(self, _counted: Counted, /) -> str:
        return self.missing


def test_a_voter_that_lacks_something_is_left_out() -> None:
    voter = FusedVoter({"x": Fixed({A: 1.0, B: 0.5}), "y": Fixed({B: 9.0}, "edges")})
    votes = voter(counted())
    assert votes.scores[A] > votes.scores[B]
    assert votes.parts[A] == {"x": 1.0}
    assert votes.missing == {"y": "it needs edges"}
    assert voter.lacks(counted()) == ""
    assert FusedVoter({"y": Fixed({}, "edges")}).lacks(counted()) == "edges"


def test_a_vote_about_a_part_of_the_runs_is_a_part_of_a_vote() -> None:
    spectrum = Fixed({B: 1.0, A: 0.5})
    whole = FusedVoter({"op2": spectrum, "ofc-cw": Fixed({A: 1.0, B: 0.5})})(counted())
    assert whole.scores[A] > whole.scores[B]
    part = FusedVoter({"op2": spectrum, "ofc-cw": Fixed({A: 1.0, B: 0.5}, share=0.1)})(counted())
    assert part.scores[A] < part.scores[B]
    assert part.shares == {"ofc-cw": 0.1}
    assert whole.shares == {}


def test_a_stand_in_is_not_asked_where_the_other_one_answered_about_whole_runs() -> None:
    voters = {"bugassist-cw": Fixed({A: 1.0}), "ofc-cw": Fixed({B: 1.0})}
    votes = FusedVoter(voters)(counted())
    assert (votes.parts, votes.missing) == ({A: {"bugassist-cw": 1.0}}, {})
    partly = {**voters, "bugassist-cw": Fixed({A: 1.0}, share=0.1)}
    assert FusedVoter(partly)(counted()).parts == {A: {"bugassist-cw": 1.0}, B: {"ofc-cw": 1.0}}
    silent = {**voters, "bugassist-cw": Fixed({}, "a range")}
    assert FusedVoter(silent)(counted()).parts == {B: {"ofc-cw": 1.0}}


def test_it_is_a_technique_of_rank() -> None:
    assert "fused" in VOTERS
