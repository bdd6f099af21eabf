"""BugAssist: all paths in one formula, its CoMSSs (Jose and Majumdar, PLDI 2011)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from afterd.localization.formula.report import Line, Report, ordered_diagnoses
from afterd.localization.formula.several_inputs import encoded_together
from afterd.localization.formula.subject import Subject, premises_doubted
from afterd.logic import Corrections, TooLargeError

SIZE = 5
"""Statements of one diagnosis at most (III-B6, Solution Space Pruning)."""


def bugassist(
    subjects: Sequence[Subject],
    solver: Corrections,
    weights: Mapping[Line, int] | None = None,
    size: int = SIZE,
) -> Report:
    """The minimal sets of statements whose change could have made the input pass; with several
    inputs all of them, in one formula.

    Single statements are asked for with all the time there is: some of them without the others say little.
    """
    name = "BA" if weights is None else "BA+CW"
    with solver.pressed():
        try:
            formulas = [subject.all_paths() for subject in subjects]
            encoded = encoded_together(formulas, solver)
        except TooLargeError as refused:
            solver.restart()
            return Report(name, reason=f"gives up: {refused}", weights=weights)
        found = solver.enumerate(encoded, weights, size=1)
    if found.finished and size > 1:
        larger = solver.enumerate(encoded, weights, found.cores, size)
        found = larger if larger.finished else replace(found, reason=larger.reason)
    said = dict.fromkeys(note for formula in formulas for note in formula.notes)
    notes = (*said, *solver.encoding.notes)
    reason = found.reason
    if not found.diagnoses and not reason:
        if premises_doubted(subjects):
            return bugassist(subjects, solver, weights, size)
        reason = f"no set of up to {size} statements could repair it"
    return Report(
        name, ordered_diagnoses(found.diagnoses, weights), reason, (found.diagnoses,), weights, notes,
        solver.encoding.size, found.finished, sum(formula.instances for formula in formulas),
    )  # fmt: skip
