"""CONBAS: relevant slices, their minimal hitting sets, consistency with the test (Algorithm 4).

Relevant slices: data, control and potential dependences (Gyimóthy et al. 1999; CONBAS, Def. 6).

In the formula of a trace all three are reads: a value reads what it was computed from; a φ reads the
condition that chose between the sides (control), also where only the side that was not executed
would have written (potential dependence). So a slice is what a term reads, transitively.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from afterd.localization.formula.report import Line, places
from afterd.localization.formula.several_inputs import Ranked, combined_ranking
from afterd.localization.formula.subject import Subject, asked_part, share_covered
from afterd.localization.formula.widening import Windows, widest_answer
from afterd.logic import (
    Corrections,
    MaxSat,
    ProgramFormula,
    Statement,
    TooLargeError,
    distinct_reads,
)
from afterd.model.term import Term

SIZES = (2, 5)
"""Single and double faults first; more only where those cannot explain the failure (section 4)."""


@dataclass(frozen=True, slots=True)
class ReducedSlice:
    """``candidates``: minimal hitting sets of ``slices``; ``result``: lines of the consistent ones;
    ``covered``: what part of the run, until what it shows is wrong, they are about, 0 to 1.
    """

    slices: tuple[frozenset[Line], ...] = ()
    candidates: tuple[frozenset[Line], ...] = ()
    diagnoses: tuple[frozenset[Line], ...] = ()
    reason: str = ""
    settled: bool = True  # nothing was given up, and no question was left without an answer
    covered: float = 1.0

    @property
    def sets(self) -> tuple[frozenset[Line], ...]:
        """What explains the failure."""
        return self.diagnoses

    @property
    def summary(self) -> frozenset[Line]:
        """The union of the slices."""
        return frozenset().union(*self.slices)

    @property
    def answers(self) -> bool:
        """Whether it explains the failure."""
        return bool(self.diagnoses)

    @property
    def result(self) -> frozenset[Line]:
        """The reduced slice."""
        return frozenset().union(*self.diagnoses)

    @property
    def reduction(self) -> float:
        """What part of the summary slice is gone (the paper's REDUCTION metric), 0 to 1."""
        return 1 - len(self.result) / len(self.summary) if self.summary else 0.0


def smallest_first(found: ReducedSlice) -> dict[Line, float]:
    """Places of the result's lines: a line of a smaller diagnosis comes first."""
    sizes: dict[Line, float] = {}
    for diagnosis in found.diagnoses:
        for line in diagnosis:
            sizes[line] = min(float(len(diagnosis)), sizes.get(line, float(len(diagnosis))))
    return places(sizes)


def ranked_slices(found: Sequence[ReducedSlice]) -> list[Ranked]:
    """The rankings of several inputs' reduced slices; one of a part of a run says nothing of what it lacks."""
    return [
        Ranked(smallest_first(one), settled=one.settled and one.covered == 1)
        for one in found
        if one.answers
    ]


def combined_slices(found: Sequence[ReducedSlice]) -> dict[Line, float]:
    """The places of the lines that several inputs' reduced slices name."""
    return combined_ranking(ranked_slices(found))


def conbas(subject: Subject, solver: Corrections, hitting: MaxSat) -> ReducedSlice:
    """The slice of every wrong output, reduced to what can explain all outputs together.

    A long run is asked for from its end.
    """

    def reduced(windows: Windows) -> ReducedSlice:
        found = _reduced_slice(subject, solver, hitting)
        part = asked_part([subject], windows) if found.reason and found.settled else ""
        covered = share_covered([subject], windows)
        return replace(found, reason=found.reason + part, covered=covered)

    try:
        return widest_answer([subject], solver, reduced)
    except TooLargeError as refused:
        return _given_up(refused)


def _given_up(refused: TooLargeError) -> ReducedSlice:
    return ReducedSlice(reason=f"gives up: {refused}", settled=False)


def _reduced_slice(subject: Subject, solver: Corrections, hitting: MaxSat) -> ReducedSlice:
    """The reduced slice in the subject's window."""
    try:
        formula = subject.trace()
        encoded = solver.encoding.encode(formula)
    except TooLargeError as refused:
        return _given_up(refused)
    slices = [
        frozenset(s.line for s in relevant_slice(formula, [violated.term]))
        for violated in formula.violated
    ]
    if not slices or not all(slices):
        return ReducedSlice(tuple(slices), reason="no statement had an influence on the output")
    tried = ReducedSlice(tuple(slices))
    statements = _by_line(formula)
    settled = True
    for size in SIZES:
        sets, complete = _hitting_sets(slices, hitting, size, solver)
        settled = settled and complete
        consistent = []
        for candidate in sets:
            explains = solver.consistent(encoded, frozenset(statements[line] for line in candidate))
            settled = settled and explains is not None
            if explains:
                consistent.append(candidate)
        tried = ReducedSlice(tuple(slices), sets, tuple(consistent), settled=settled)
        if consistent:
            return tried
    return replace(tried, reason=f"no set of up to {SIZES[-1]} statements could explain it")


def _by_line(formula: ProgramFormula) -> dict[Line, Statement]:
    return {d.statement.line: d.statement for d in formula.definitions if d.statement is not None}


def _hitting_sets(
    slices: Sequence[frozenset[Line]], hitting: MaxSat, size: int, solver: Corrections
) -> tuple[tuple[frozenset[Line], ...], bool]:
    """Minimal sets with a statement of every slice, up to a size; whether these are all that there was
    time for.
    """
    lines = sorted(frozenset().union(*slices))
    number = {line: at + 1 for at, line in enumerate(lines)}
    before = hitting.seconds
    wanted = [[number[line] for line in s] for s in slices]
    found = hitting.hitting_sets(wanted, size, seconds=solver.left)
    solver.spend(hitting.seconds - before)
    sets = tuple(frozenset(lines[n - 1] for n in members) for members in found.sets)
    return sets, found.reason != "time-out"


def relevant_slice(formula: ProgramFormula, terms: Iterable[Term]) -> frozenset[Statement]:
    """The statements that may have had influence on the value of the terms."""
    by_step = {definition.step: definition for definition in formula.definitions}
    seen: set[int] = set()
    statements: set[Statement] = set()
    waiting = list(terms)
    while waiting:
        for read in distinct_reads(waiting.pop()):
            if read.step in seen or read.step not in by_step:
                continue
            seen.add(read.step)
            definition = by_step[read.step]
            waiting.append(definition.term)
            if definition.statement is not None:
                statements.add(definition.statement)
    return frozenset(statements)
