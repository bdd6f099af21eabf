"""BugAssist: all paths in one formula, its CoMSSs (Jose and Majumdar, PLDI 2011)."""

from __future__ import annotations

from collections.abc import Mapping

from afterd.localization.formula.report import Line, Report, ordered
from afterd.localization.formula.subject import Subject
from afterd.logic.correction import Corrections
from afterd.logic.program_formula import TooLargeError

SIZE = 5
"""Statements of one diagnosis at most (III-B6, Solution Space Pruning)."""


def bugassist(
    subject: Subject,
    solver: Corrections,
    weights: Mapping[Line, int] | None = None,
    size: int = SIZE,
) -> Report:
    """The minimal sets of statements whose change could have made the input pass."""
    name = "BA" if weights is None else "BA+CW"
    try:
        formula = subject.all_paths()
        encoded = solver.encoding.encode(formula)
    except TooLargeError as refused:
        solver.restart()
        return Report(name, reason=f"gives up: {refused}", weights=weights)
    found = solver.enumerate(encoded, weights, size=size)
    notes = (*formula.notes, *solver.encoding.notes)
    return Report(
        name, ordered(found.diagnoses, weights), found.reason, (found.diagnoses,), weights, notes,
        solver.encoding.size, found.finished,
    )  # fmt: skip
