"""Formula-based techniques as voters: which lines could have made the failed tests pass?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from afterd.localization.examination import Line
from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.clause_weighting import clause_weights
from afterd.localization.formula.on_demand import on_demand
from afterd.localization.formula.report import Report
from afterd.localization.formula.several_inputs import intersected
from afterd.localization.formula.subject import Subject
from afterd.localization.techniques import TECHNIQUES
from afterd.logic.correction import Corrections
from afterd.pipeline.ranking.formula_programs import failing_inputs
from afterd.pipeline.ranking.votes import Counted, NoVoteError, Votes, line_votes

INPUTS = 2
"""Failed tests that are explained; lines that both name are what the technique votes for."""

SECONDS = 10.0
"""Of the solver's CPU time, for each failed test."""


@dataclass(frozen=True, slots=True)
class FormulaVoter:
    """BugAssist (``all_paths``) or on-demand formulas, with clauses weighted by Ochiai or not."""

    all_paths: bool
    weighted: bool

    def __call__(self, counted: Counted, /) -> Votes:
        """A line's score is the reciprocal of its mean place. Raises NoVoteError."""
        ochiai = line_votes(counted.spectrum, TECHNIQUES["ochiai"](counted.spectrum)).scores
        weights = clause_weights(ochiai) if self.weighted else None
        reports = [self._report(s, weights) for s in failing_inputs(counted, INPUTS)]
        places = intersected(reports)
        if not places:
            reason = next((r.reason for r in reports if r.reason), "no line could repair the tests")
            raise NoVoteError(f"The formula of a failed test gives no answer: {reason}.")
        return Votes({line: 1 / place for line, place in places.items()})

    def _report(self, subject: Subject, weights: Mapping[Line, int] | None) -> Report:
        technique = bugassist if self.all_paths else on_demand
        with Corrections() as solver:
            solver.begin(SECONDS)
            return technique(subject, solver, weights)

    def lacks(self, counted: Counted, /) -> str:
        """Whether the suite's programs can be executed from their IR at all."""
        runs = [run for run in counted.spectrum.runs if run.failed]
        if not runs or any(run.invocations for run in runs):
            return ""
        return "a failed test that runs a C program"


FORMULAS: Mapping[str, FormulaVoter] = {
    "bugassist": FormulaVoter(all_paths=True, weighted=False),
    "bugassist-cw": FormulaVoter(all_paths=True, weighted=True),
    "ofc": FormulaVoter(all_paths=False, weighted=False),
    "ofc-cw": FormulaVoter(all_paths=False, weighted=True),
}
