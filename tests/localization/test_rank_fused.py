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
COUNTED = Counted(NOTHING, NOTHING, "", NOTHING)  # these voters do not look


@dataclass(frozen=True, slots=True)
class Fixed:
    scores: Mapping[Line, float]
    missing: str = ""

    def __call__(self, _counted: Counted, /) -> Votes:
        return Votes(self.scores)

    def lacks(self, _counted: Counted, /) -> str:
        return self.missing


def test_a_voter_that_lacks_something_is_left_out() -> None:
    voter = FusedVoter({"x": Fixed({A: 1.0, B: 0.5}), "y": Fixed({B: 9.0}, "edges")})
    votes = voter(COUNTED)
    assert votes.scores[A] > votes.scores[B]
    assert votes.parts[A] == {"x": 1.0}
    assert votes.missing == {"y": "it needs edges"}
    assert voter.lacks(COUNTED) == ""
    assert FusedVoter({"y": Fixed({}, "edges")}).lacks(COUNTED) == "edges"


def test_it_is_a_technique_of_rank() -> None:
    assert "fused" in VOTERS
