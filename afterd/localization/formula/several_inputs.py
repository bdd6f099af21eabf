"""Several failing inputs of one fault, both ways (Jin and Orso, section III-B6, and ours)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from afterd.localization.formula.report import Line, Report, ranked
from afterd.logic.correction import Corrections, merged
from afterd.logic.encoding import Encoded
from afterd.logic.program_formula import ProgramFormula


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


def encoded_together(formulas: Sequence[ProgramFormula], solver: Corrections) -> Encoded:
    """One formula for all inputs, which only repairs all of them satisfy.

    Each input has a copy of what its run computes, and all copies share the statements' selectors.
    It keeps the number of diagnoses small where one input alone has very many. Raises TooLargeError.
    """
    return merged([solver.encoding.encode(f, test=at) for at, f in enumerate(formulas)])
