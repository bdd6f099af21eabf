"""Several failing inputs of one fault, both ways (Jin and Orso, section III-B6, and ours)."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from statistics import fmean
from typing import Protocol, TypeVar

from afterd.limits import FormulaLimits
from afterd.localization.formula.report import Line, Report, places, ranked_lines, smallest_sizes
from afterd.logic import Corrections, Encoded, ProgramFormula, merged_formulas

_ALWAYS = 2  # inputs, however long their runs are


class Run(Protocol):
    """A failing input's run."""

    @property
    def length(self) -> int:
        """How many instructions it has."""
        ...

    @property
    def extent_repaired(self) -> int:
        """How many it has at least as it should have been: a formula is of these, too."""
        ...


_T = TypeVar("_T")
_Run = TypeVar("_Run", bound=Run)


@dataclass(frozen=True, slots=True)
class Ranked:
    """One input's ranking: the places of its lines, for each of them of how many statements the smallest diagnosis
    with it is (where that is known), and whether the input is ``settled``: no line that is not here repairs it alone.
    """

    places: Mapping[Line, float]
    sizes: Mapping[Line, float] = field(default_factory=dict)
    settled: bool = True


def ranked_inputs(reports: Sequence[Report]) -> list[Ranked]:
    """The rankings of several inputs' reports, without those that say nothing (a technique gave up)."""
    return [
        Ranked(ranked_lines(report), smallest_sizes(report), report.settled)
        for report in reports
        if report.answers
    ]


def combined_places(reports: Sequence[Report]) -> dict[Line, float]:
    """The places of the lines that several inputs' reports name; see ``combined_ranking``."""
    return combined_ranking(ranked_inputs(reports))


def ruled_out(answered: Sequence[Ranked]) -> frozenset[Line]:
    """The lines that only inputs name which are not settled, where others are: no such line explains all failures
    alone, and what is known to the end stands against what is not.

    Where that leaves no line, what is wrong is no single statement that there is: one is missing, or there are
    several faults. (A line that some settled inputs name and others lack is left: lexicon's F_MISS_1 is one.)
    """
    settled = [ranked.places for ranked in answered if ranked.settled]
    named = frozenset(line for ranked in answered for line in ranked.places)
    return named.difference(*settled) if settled else frozenset()


def combined_ranking(answered: Sequence[Ranked]) -> dict[Line, float]:
    """Several rankings as one: lines that fewer of the settled ones lack come first, then (where the sizes are known,
    and there are several rankings) those of smaller diagnoses, then those with the better mean place.

    The paper reports the lines that all inputs' reports have, by their mean place: they come first
    here. The faulty statement is responsible for all failures, so what an input that is settled lacks is less
    likely. One that is not may lack the fault: its silence says nothing, and a line that it does not name has the
    mean of the places behind its list there, as in a fusion. A statement that can repair every
    input alone explains all of them with one fault; one that needs another statement beside it for some
    input explains them with two.
    """
    answered = [ranked for ranked in answered if ranked.places]
    named = dict.fromkeys(line for ranked in answered for line in ranked.places)
    keys: dict[Line, tuple[int, float, float]] = {}
    for line in named:
        lacking = sum(ranked.settled and line not in ranked.places for ranked in answered)
        size = _mean_size(line, answered) if len(answered) > 1 else 0.0
        keys[line] = lacking, size, _mean_place(line, answered, len(named))
    order = {key: float(at) for at, key in enumerate(sorted(set(keys.values())))}
    return places({line: order[key] for line, key in keys.items()})


def _mean_size(line: Line, answered: Sequence[Ranked]) -> float:
    found = [ranked.sizes[line] for ranked in answered if line in ranked.sizes]
    return fmean(found) if found else 0.0


def _mean_place(line: Line, answered: Sequence[Ranked], count: int) -> float:
    """Of the inputs that name a line, or may lack it by chance; of ``count`` lines in all."""
    return fmean(
        ranked.places.get(line, (len(ranked.places) + 1 + count) / 2)
        for ranked in answered
        if line in ranked.places or not ranked.settled
    )


def inputs_within(lengths: Iterable[int], limits: FormulaLimits) -> int:
    """How many of several runs, by their numbers of instructions, are explained."""
    chosen = total = 0
    for length in lengths:
        total += length
        if chosen == limits.inputs or (chosen >= _ALWAYS and total > limits.instructions):
            break
        chosen += 1
    return chosen


def explained_runs(tried: Iterable[_Run], limits: FormulaLimits) -> list[_Run]:
    """Those that are explained of runs that come by their own length, the least to encode first.

    A run that ended too soon is short, and what it should have done is in its formula: of all that end at the
    same place the one is explained of which that is least. None is tried that is longer than those that are chosen.
    """
    found: list[_Run] = []
    chosen = 0
    for run in islice(tried, limits.tried):
        insort(found, run, key=lambda one: one.extent_repaired)
        chosen = inputs_within((one.extent_repaired for one in found), limits)
        full = chosen < len(found) or chosen == limits.inputs
        if full and run.length >= found[chosen - 1].extent_repaired:
            break
    return found[:chosen]


def allotted(
    inputs: Sequence[_T], seconds: float, spent: Callable[[], float]
) -> Iterator[tuple[_T, float, float]]:
    """Each input with its part of a technique's CPU time, and all of that time that is left.

    What an input did not use is the next ones'. The shortest comes first and may have all of it for what would
    be no answer otherwise: two inputs of which neither was finished say less than one.
    """
    until = spent() + seconds
    for at, given in enumerate(inputs):
        left = max(0.0, until - spent())
        yield given, left / (len(inputs) - at), left


def encoded_together(formulas: Sequence[ProgramFormula], solver: Corrections) -> Encoded:
    """One formula for all inputs, which only repairs all of them satisfy.

    Each input has a copy of what its run computes, and all copies share the statements' selectors.
    It keeps the number of diagnoses small where one input alone has very many. Raises TooLargeError.
    """
    return merged_formulas([solver.encoding.encode(f, test=at) for at, f in enumerate(formulas)])
