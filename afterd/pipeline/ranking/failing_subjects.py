"""The failed tests of a counted suite as what formula-based techniques ask, whatever the language."""

from __future__ import annotations

from afterd.localization.formula.subject import Subject
from afterd.pipeline.ranking.formula_programs import failing_inputs
from afterd.pipeline.ranking.votes import Counted


def failing_subjects(counted: Counted) -> list[Subject]:
    """Some failed tests. Raises NoVoteError where there is none that can be followed."""
    return list(failing_inputs(counted))


def lacks_subjects(counted: Counted) -> str:
    """Whether the suite's programs can be executed from their IR at all."""
    runs = [run for run in counted.spectrum.runs if run.failed]
    if not runs or any(run.invocations for run in runs):
        return ""
    return "a failed test that runs a C program"
