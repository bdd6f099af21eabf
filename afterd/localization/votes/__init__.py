"""Voters: what a technique says of each line of a suite that was counted."""

from afterd.localization.votes.emitted import FORMS
from afterd.localization.votes.formula_programs import BOUNDS
from afterd.localization.votes.lines import RankedPlace, changed_lines, ranked_lines
from afterd.localization.votes.sat_tar_votes import emit
from afterd.localization.votes.voters import FUSED, PARTS, VOTERS, voted
from afterd.localization.votes.votes import (
    ROUNDS,
    Counted,
    Memory,
    NoVoteError,
    VoteOptions,
    line_votes,
)

__all__ = [
    "BOUNDS",
    "FORMS",
    "FUSED",
    "PARTS",
    "ROUNDS",
    "VOTERS",
    "Counted",
    "Memory",
    "NoVoteError",
    "RankedPlace",
    "VoteOptions",
    "changed_lines",
    "emit",
    "line_votes",
    "ranked_lines",
    "voted",
]
