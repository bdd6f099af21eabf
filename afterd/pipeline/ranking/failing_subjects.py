"""The failed tests of a counted suite as what formula-based techniques ask, whatever the language."""

from __future__ import annotations

from pathlib import PurePath

from afterd.limits import FormulaLimits
from afterd.localization.formula.subject import Subject
from afterd.pipeline.ranking.formula_programs import failing_inputs
from afterd.pipeline.ranking.python_failures import recorded_tests
from afterd.pipeline.ranking.votes import Counted


def failing_subjects(counted: Counted) -> list[Subject]:
    """Some failed tests. Raises NoVoteError where there is none that can be followed."""
    if is_of_python(counted):
        return list(recorded_tests(counted, FormulaLimits().inputs))
    return list(failing_inputs(counted))


def lacks_subjects(counted: Counted) -> str:
    """Whether the failed tests can be recorded, or executed from their IR, at all."""
    runs = [run for run in counted.spectrum.runs if run.failed]
    if not runs or is_of_python(counted) or any(run.invocations for run in runs):
        return ""
    return "a failed test that runs a C program"


def is_of_python(counted: Counted) -> bool:
    """Whether what was counted is Python."""
    entities = counted.spectrum.entities
    return bool(entities) and PurePath(entities[0].location.file).suffix in {".py", ".pyi"}
