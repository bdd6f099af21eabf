"""Several failing inputs of one fault, both ways (Jin and Orso, section III-B6, and ours)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from afterd.localization.formula.bugassist import SIZE
from afterd.localization.formula.on_demand import grown
from afterd.localization.formula.report import Line, Report, ordered, ranked
from afterd.localization.formula.subject import Subject
from afterd.logic.correction import Corrections, Diagnosis, Found, merged
from afterd.logic.program_formula import Branch, TooLargeError

ITERATIONS = 60


def intersected(reports: Sequence[Report]) -> dict[Line, float]:
    """Lines that every input's report names, with the mean of their places in the reports.

    The faulty statements are executed by all failing tests and responsible for all failures.
    Reports without a diagnosis (a technique gave up on that input) say nothing and are left out.
    """
    return common([ranked(report) for report in reports if report.diagnoses])


def common(answered: Sequence[Mapping[Line, float]]) -> dict[Line, float]:
    """Lines that all of some rankings have, with the mean of their places."""
    if not answered:
        return {}
    named = set.intersection(*(set(places) for places in answered))
    return {
        line: sum(places[line] for places in answered) / len(answered) for line in sorted(named)
    }


def in_one_formula(
    subjects: Sequence[Subject],
    solver: Corrections,
    weights: Mapping[Line, int] | None = None,
    size: int = SIZE,
) -> Report:
    """Diagnoses that repair all inputs at once: each input has a copy of what its run computes, and
    all copies share the statements' selectors. It keeps the number of diagnoses small where one
    input alone has very many.
    """
    explored: set[Branch] = set()
    found, history = Found(), list[tuple[Diagnosis, ...]]()
    notes: tuple[str, ...] = ()
    for _ in range(ITERATIONS):
        try:
            formulas = [subject.on_demand(explored) for subject in subjects]
            parts = [solver.encoding.encode(f, test=1 + at) for at, f in enumerate(formulas)]
        except TooLargeError as refused:
            return Report("OFC, one formula", found.diagnoses, f"gives up: {refused}")
        notes = tuple(dict.fromkeys(note for f in formulas for note in f.notes))
        found = solver.enumerate(merged(parts), weights, found.cores, size)
        history.append(found.diagnoses)
        frontier = [side for formula in formulas for side in formula.frontier]
        fresh = {frontier[at].branch for at in found.needs} - explored
        if not fresh:
            break
        explored |= grown(fresh, explored, frontier)
    return Report(
        "OFC, one formula", ordered(found.diagnoses, weights), found.reason, tuple(history),
        weights, notes,
        solver.encoding.size,
    )  # fmt: skip
