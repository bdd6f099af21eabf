"""One ranking out of several, each technique's vote kept.

Reciprocal-rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): a line's score is the sum over the
techniques of weight / (k + place). It needs no common scale of scores. What a technique does not name it holds
for equally suspicious: those lines share the mean of the places behind its list, as all ties do. So where it
names nothing it has no vote, and a list of half of the program says less than a short one.

A formula of a long run is about its end. What it is not about it says nothing of, so as the statement that
was wrong stands within with the probability that the part has in the run, such a technique's vote is a mixture:
for that share its own list, for the rest that of the techniques which stand in for it, and for what these are not
about the spectrum's, which is about whole runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import comb, sqrt
from statistics import fmean, stdev
from types import MappingProxyType

from afterd.localization.formula.report import Line, places
from afterd.model.explanation import RankedLine
from afterd.weights import FUSION

SEEN = 4.0
"""The loop's score of a line of a change whose removal was seen to make the test pass: no statistics
outweigh that, so such lines lead the fused list.
"""

K = 60.0
"""How fast a vote fades with its place: the paper's constant."""

KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "spectrum": ("ochiai", "op2", "dstar", "blockrank"),
        "formula": ("bugassist-cw", "ofc-cw"),
        "slice": ("conbas",),
        "loop": ("loop",),
    }
)
"""The kinds of evidence, and the techniques of ``afterd rank`` that speak for each.

Of the spectrum: the best ones on schedule-lab, and one by edges.
"""

STAND_INS: Mapping[str, str] = MappingProxyType(
    {"ofc-cw": "bugassist-cw", "conbas": "bugassist-cw"}
)
"""Who speaks only where another one has no vote, and of what that one is not about: what on-demand formulas find is
what all paths give, and about the end of a run where all paths are too many; a slice is what such a formula is about,
and lacks what that lacks. Those who stand in for the same one share its vote.
"""

KIND_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {kind: getattr(FUSION, kind) for kind in KINDS}
)
"""What a kind's vote weighs without a benchmark of one's own."""


def _shared(weight: float, speaking: Sequence[str]) -> dict[str, float]:
    """A kind's weight among those who speak for it; a stand-in has what the other one leaves."""
    count = sum(STAND_INS.get(name) not in speaking for name in speaking)
    return dict.fromkeys(speaking, weight / count)


WEIGHTS: Mapping[str, float] = MappingProxyType(
    {n: w for kind, names in KINDS.items() for n, w in _shared(KIND_WEIGHTS[kind], names).items()}
)
"""The techniques of a kind share its vote: they see the same and err together, so that their number is no
evidence. What is not here weighs 1.
"""

Votes = Mapping[str, Mapping[Line, float]]
"""Technique → line → score, higher is more suspicious."""

Shares = Mapping[str, float]
"""Technique → what part of the failed runs its votes are about, 0 to 1; of one that is not here all.

One that names nothing, and is about something, has ruled out what it knows: no line has its vote, nor that of those
who stand in for it.
"""

_ALL: Shares = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Case:
    """What was voted, the faulty lines, the place of a fault that nobody voted for, and the shares."""

    votes: Votes
    faulty: Collection[Line]
    missing: float
    shares: Shares = field(default_factory=dict)


def fused_lines(
    votes: Votes, weights: Mapping[str, float] = WEIGHTS, shares: Shares = _ALL
) -> list[RankedLine]:
    """The lines that any technique voted on, most suspicious first; ``votes`` are their places.

    A technique without a weight has its default one.
    """
    shares = {name: _about(name, votes, shares) for name in votes}
    weight = {n: weights.get(n, WEIGHTS.get(n, 1.0)) for n in votes if votes[n] or shares[n]}
    speaking = [name for name in weight if weight[name]]
    votes = {name: votes[name] for name in weight if speaks_beside(name, speaking, shares)}
    counting = _counting_weights(weight, shares)
    by_technique = {
        name: places({line: -score for line, score in scores.items()})
        for name, scores in votes.items()
    }
    scores = {line: 0.0 for found in by_technique.values() for line in found}
    for name, found in by_technique.items():
        behind = (len(found) + 1 + len(scores)) / 2  # the mean place of what it does not name
        for line in scores:
            scores[line] += counting[name] / (K + found.get(line, behind))
    for line, score in votes.get("loop", {}).items():
        if score >= SEEN:
            scores[line] += sum(weights.values()) + len(WEIGHTS)  # more than all votes together
    order = sorted(scores, key=lambda line: (-scores[line], line))
    return [
        RankedLine(
            line[0],
            line[1],
            scores[line],
            {name: found[line] for name, found in by_technique.items() if line in found},
        )
        for line in order
    ]


def _about(name: str, votes: Votes, shares: Shares) -> float:
    """What part of the runs a technique speaks of; one that names nothing speaks of none, unless it is said."""
    return shares.get(name, 1.0 if votes[name] else 0.0)


def heard(scores: Mapping[Line, float], ruled_out: Collection[Line]) -> dict[Line, float]:
    """What a technique says in a fusion: nothing of lines that explain some of the failures alone, and not all."""
    return {line: score for line, score in scores.items() if line not in ruled_out}


def speaks_beside(name: str, speaking: Collection[str], shares: Shares) -> bool:
    """Whether a technique has a vote beside these: whom it stands in for may have spoken of whole runs."""
    other = STAND_INS.get(name, "")
    return other not in speaking or shares.get(other, 1.0) < 1


def _counting_weights(weight: Mapping[str, float], shares: Shares) -> Mapping[str, float]:
    """What each vote counts: its part of the weight that it has, or that whom it stands in for leaves.

    What is left in the end is the spectrum's. Its techniques share that as they share its own vote, alike where they
    have none.
    """
    speaking = [name for name in weight if weight[name]]
    together = Counter(STAND_INS[name] for name in speaking if name in STAND_INS)
    counting = dict.fromkeys(weight, 0.0)
    rest = 0.0
    for name in speaking:
        other = STAND_INS.get(name, "")
        given = weight[name]
        if other in speaking:
            given = weight[other] * (1 - shares.get(other, 1.0))
        given /= max(1, together[other])
        counting[name] = given * shares.get(name, 1.0)
        if not together[name]:
            rest += given - counting[name]
    spectrum = {name: weight[name] for name in KINDS["spectrum"] if name in weight}
    own = sum(spectrum.values())
    for name, part in spectrum.items():
        counting[name] += rest * (part / own if own else 1 / len(spectrum))
    return counting


def place_of(ranking: Sequence[RankedLine], lines: Collection[Line], missing: float) -> float:
    """The place of the first of the lines; equal scores share the mean place."""
    shared = places({(r.file, r.line): -r.score for r in ranking})
    return min((shared[line] for line in lines if line in shared), default=missing)


def chance_among(ranking: Sequence[RankedLine], lines: Collection[Line], count: int) -> float:
    """The chance that a reader of the first ``count`` lines, who takes equals in any order, meets one of the lines.

    A mean place says little of it where many are equal: ten lines from the fifth place on have the mean place 9.5.
    """
    first = next((r.score for r in ranking if (r.file, r.line) in lines), None)
    if first is None:
        return 0.0
    before = sum(r.score > first for r in ranking)
    equal = [(r.file, r.line) in lines for r in ranking if r.score == first]
    read = min(max(0, count - before), len(equal))
    return 1 - comb(len(equal) - sum(equal), read) / comb(len(equal), read)


def weights_learned(cases: Sequence[Case]) -> dict[str, float]:
    """Weights with the best mean place of the faulty lines, one kind after the other.

    Coordinate descent from WEIGHTS over what a kind weighs (``FUSION.choices``) and who speaks for it, one of its
    techniques or all together: few numbers, so that a few dozen cases cannot be learned by heart. Others are
    taken only where they are better by more than chance explains (``FUSION.firm``): a weight that is a place
    better on some programs by luck is a place worse on the next one.
    """
    names = sorted({name for case in cases for name in case.votes})
    weights = {name: WEIGHTS.get(name, 1.0) for name in names}

    def places_with(given: Mapping[str, float]) -> list[float]:
        return [
            place_of(fused_lines(case.votes, given, case.shares), case.faulty, case.missing)
            for case in cases
        ]

    best = places_with(weights)
    for _ in range(2 if cases else 0):
        for kind in _kinds_of(names):
            for speaking, choice in product(_speakers(kind), FUSION.choices):
                tried = {**weights, **dict.fromkeys(kind, 0.0), **_shared(choice, speaking)}
                if any(tried.values()) and _is_firmly_better(found := places_with(tried), best):
                    weights, best = tried, found
    return weights


def _is_firmly_better(places: Sequence[float], than: Sequence[float]) -> bool:
    """Whether the mean place is lower by more standard errors of the cases' differences than ``FUSION.firm``."""
    gains = [old - new for old, new in zip(than, places, strict=True)]
    error = stdev(gains) / sqrt(len(gains)) if len(gains) > 1 else 0.0
    return fmean(gains) > FUSION.firm * error


def _kinds_of(names: Collection[str]) -> list[list[str]]:
    """The techniques by the kind of their evidence; one that is of no kind is one."""
    known = [[name for name in kind if name in names] for kind in KINDS.values()]
    of_none = [[name] for name in names if not any(name in kind for kind in known)]
    return [kind for kind in (*known, *of_none) if kind]


def _speakers(kind: Sequence[str]) -> list[Sequence[str]]:
    """All techniques of a kind together, or one of them for all."""
    return [kind, *([name] for name in kind)] if len(kind) > 1 else [kind]
