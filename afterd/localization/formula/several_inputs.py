"""Several failing inputs of one fault, both ways (Jin and Orso, section III-B6, and ours)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from afterd.limits import FormulaLimits
from afterd.localization.formula.report import Line, Report, places, ranked
from afterd.logic import Corrections, Encoded, ProgramFormula, merged_formulas

_ALWAYS = 2  # inputs, however long their runs are


def combined_places(reports: Sequence[Report]) -> dict[Line, float]:
    """The places of the lines that several inputs' reports name; see ``together``.

    Reports without a diagnosis (a technique gave up on that input) say nothing and are left out.
    """
    return together([ranked(report) for report in reports if report.diagnoses])


def together(answered: Sequence[Mapping[Line, float]]) -> dict[Line, float]:
    """Several rankings as one: lines that more of them name come first, then those with the better mean
    place.

    The paper reports the lines that all inputs' reports have, by their mean place: they come first
    here. The faulty statement is responsible for all failures, but a report that is not complete
    may lack it, so the lines that only some reports name follow.
    """
    named = dict.fromkeys(line for ranking in answered for line in ranking)
    keys: dict[Line, tuple[int, float]] = {}
    for line in named:
        found = [ranking[line] for ranking in answered if line in ranking]
        keys[line] = -len(found), sum(found) / len(found)
    order = {key: float(at) for at, key in enumerate(sorted(set(keys.values())))}
    return places({line: order[key] for line, key in keys.items()})


def within(lengths: Iterable[int], limits: FormulaLimits) -> int:
    """How many of several runs, by their numbers of instructions, are explained."""
    chosen = total = 0
    for length in lengths:
        total += length
        if chosen == limits.inputs or (chosen >= _ALWAYS and total > limits.instructions):
            break
        chosen += 1
    return chosen


def encoded_together(formulas: Sequence[ProgramFormula], solver: Corrections) -> Encoded:
    """One formula for all inputs, which only repairs all of them satisfy.

    Each input has a copy of what its run computes, and all copies share the statements' selectors.
    It keeps the number of diagnoses small where one input alone has very many. Raises TooLargeError.
    """
    return merged_formulas([solver.encoding.encode(f, test=at) for at, f in enumerate(formulas)])
