"""Formula-based techniques as voters: which lines could have made the failed tests pass?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from afterd.limits import FormulaLimits
from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.clause_weighting import clause_weights
from afterd.localization.formula.conbas import conbas, ranked_slices
from afterd.localization.formula.on_demand import on_demand
from afterd.localization.formula.report import mean_covered
from afterd.localization.formula.several_inputs import (
    Ranked,
    allotted,
    combined_ranking,
    ranked_inputs,
    ruled_out,
)
from afterd.localization.techniques import TECHNIQUES
from afterd.localization.votes.formula_programs import failing_subjects, lacks_subjects
from afterd.localization.votes.votes import (
    Counted,
    NoVoteError,
    RuledOutError,
    Voter,
    Votes,
    line_votes,
)
from afterd.logic import MaxSat

_LIMITS = FormulaLimits()


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class FormulaVoter:
    """BugAssist (``all_paths``) or on-demand formulas, with clauses weighted by Ochiai or not."""

    all_paths: bool
    weighted: bool

    def __call__(self, counted: Counted, /) -> Votes:
        """A line's score is the reciprocal of its mean place, over the failed tests or in their one
        formula. Raises NoVoteError.
        """
        ochiai = line_votes(counted.spectrum, TECHNIQUES["ochiai"](counted.spectrum)).scores
        weights = clause_weights(ochiai) if self.weighted else None
        technique = bugassist if self.all_paths else on_demand
        subjects = failing_subjects(counted)
        grouped = [subjects] if counted.options.one_formula else [[one] for one in subjects]
        reports = [
            technique(inputs, counted.memory.solver(seconds, at_last), weights)
            for inputs, seconds, at_last in _allotted(grouped, counted)
        ]
        reason = next((r.reason for r in reports if r.reason), "")
        return _votes(ranked_inputs(reports), mean_covered(reports), reason)

    def lacks(self, counted: Counted, /) -> str:
        """What formulas miss."""
        return lacks_subjects(counted)


@dataclass(frozen=True, slots=True)
class ConbasVoter:
    """Reduced relevant slices of all wrong outputs; a line of a smaller diagnosis comes first."""

    def __call__(self, counted: Counted, /) -> Votes:
        """A line's score is the reciprocal of its mean place. Raises NoVoteError."""
        with closing(MaxSat()) as hitting:
            reduced = [
                conbas(subject, counted.memory.solver(seconds), hitting)
                for subject, seconds, _ in _allotted(failing_subjects(counted), counted)
            ]
        reason = next((r.reason for r in reduced if r.reason), "")
        return _votes(ranked_slices(reduced), mean_covered(reduced), reason)

    def lacks(self, counted: Counted, /) -> str:
        """What formulas miss."""
        return lacks_subjects(counted)


def _allotted(inputs: Sequence[_T], counted: Counted) -> Iterator[tuple[_T, float, float]]:
    return allotted(inputs, _LIMITS.seconds, counted.memory.spent)


def _votes(answered: Sequence[Ranked], share: float, reason: str) -> Votes:
    """Lines by their places, from what is about such a share of the runs. Raises NoVoteError where there is none."""
    found = combined_ranking(answered)
    if not found:
        said = reason or "no line could repair the tests"
        refused = RuledOutError if answered else NoVoteError
        raise refused(f"The formula of a failed test gives no answer: {said}.")
    scores = {line: 1 / place for line, place in found.items()}
    return Votes(scores, share=share, ruled_out=ruled_out(answered))


FORMULAS: Mapping[str, Voter] = {
    "bugassist": FormulaVoter(all_paths=True, weighted=False),
    "bugassist-cw": FormulaVoter(all_paths=True, weighted=True),
    "ofc": FormulaVoter(all_paths=False, weighted=False),
    "ofc-cw": FormulaVoter(all_paths=False, weighted=True),
    "conbas": ConbasVoter(),
}
