"""Every ranking technique by the name that ``--technique`` takes, and the fusion of some of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from afterd.localization.fusion import KINDS, fused_lines, heard, speaks_beside
from afterd.localization.techniques import TECHNIQUES
from afterd.localization.votes.formula_votes import FORMULAS
from afterd.localization.votes.loop_votes import LoopVoter
from afterd.localization.votes.sat_tar_votes import SatTarVoter
from afterd.localization.votes.votes import (
    Counted,
    NoVoteError,
    RuledOutError,
    SpectrumVoter,
    Voter,
    Votes,
)


@dataclass(frozen=True, slots=True)
class FusedVoter:
    """Several voters as one, by reciprocal-rank fusion; who lacks something or has no vote is left out."""

    voters: Mapping[str, Voter]

    def __call__(self, counted: Counted, /) -> Votes:
        """Vote by the places that the others give."""
        found: dict[str, Votes] = {}
        missing: dict[str, str] = {}
        shares: dict[str, float] = {}
        for name, voter in self.voters.items():
            if not speaks_beside(name, found, shares):
                continue
            if lacking := voter.lacks(counted):
                missing[name] = f"it needs {lacking}"
                continue
            try:
                found[name] = voted(name, voter, counted)
            except NoVoteError as nothing:
                missing[name] = str(nothing).rstrip(".")
                if not isinstance(nothing, RuledOutError):
                    continue
                found[name] = Votes({})
            shares[name] = found[name].share
        ranking = fused_lines(
            {name: heard(votes.scores, votes.ruled_out) for name, votes in found.items()},
            counted.options.weights,
            shares,
        )
        return Votes(
            {(line.file, line.line): line.score for line in ranking},
            parts={(line.file, line.line): line.votes for line in ranking},
            missing=missing,
            shares={name: share for name, share in shares.items() if share < 1},
        )

    def lacks(self, counted: Counted, /) -> str:
        """What all of them miss."""
        reasons = [voter.lacks(counted) for voter in self.voters.values()]
        return reasons[0] if all(reasons) else ""


def voted(name: str, voter: Voter, counted: Counted) -> Votes:
    """A voter's votes, which are asked for once in a ranking. Raises NoVoteError."""
    return counted.memory.once(("votes", name), lambda: voter(counted))


_SINGLE: Mapping[str, Voter] = {
    **{name: SpectrumVoter(technique) for name, technique in TECHNIQUES.items()},
    **FORMULAS,
    "sat-tar": SatTarVoter(),
    "loop": LoopVoter(),
}
PARTS = tuple(name for names in KINDS.values() for name in names)
"""What is fused: all kinds of evidence."""

FUSED = "fused"

VOTERS: Mapping[str, Voter] = MappingProxyType(
    {**_SINGLE, FUSED: FusedVoter({name: _SINGLE[name] for name in PARTS})}
)
