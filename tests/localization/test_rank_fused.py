"""The fusion of several voters, as one voter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from afterd.localization.examination import Line
from afterd.localization.votes.voters import VOTERS, FusedVoter
from afterd.localization.votes.votes import Counted, NoVoteError, RuledOutError, Votes

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
    ruled_out: frozenset[Line] = frozenset()
    nothing: NoVoteError | None = None

    def __call__(self, _counted: Counted, /) -> Votes:
        if self.nothing is not None:
            raise self.nothing
        return Votes(self.scores, share=self.share, ruled_out=self.ruled_out)

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


def test_what_a_settled_input_rules_out_has_no_vote_and_no_stand_in_speaks_instead() -> None:
    """larder, `F_OP_1`: of two inputs one had a single repair, which the other's twenty did not have among them."""
    voters = {
        "op2": Fixed({A: 1.0, B: 0.5}),
        "bugassist-cw": Fixed({B: 1.0}, ruled_out=frozenset({B})),
        "ofc-cw": Fixed({B: 1.0}),
    }
    votes = FusedVoter(voters)(counted())
    assert votes.scores[A] > votes.scores[B]
    assert votes.parts == {A: {"op2": 1.0}, B: {"op2": 2.0}}
    settled = Fixed({}, nothing=RuledOutError("no single statement could repair it."))
    votes = FusedVoter({**voters, "bugassist-cw": settled})(counted())
    assert votes.parts == {A: {"op2": 1.0}, B: {"op2": 2.0}}
    assert votes.missing == {"bugassist-cw": "no single statement could repair it"}
    gave_up = Fixed({}, nothing=NoVoteError("It gives up."))
    votes = FusedVoter({**voters, "bugassist-cw": gave_up})(counted())
    assert votes.scores[A] < votes.scores[B]


def test_it_is_a_technique_of_rank() -> None:
    assert "fused" in VOTERS
