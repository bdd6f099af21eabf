"""BugAssist: all paths in one formula, its CoMSSs (Jose and Majumdar, PLDI 2011)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from afterd.limits import DEMAND, LOGIC
from afterd.localization.formula.report import Line, Report, ordered_diagnoses
from afterd.localization.formula.several_inputs import encoded_together
from afterd.localization.formula.subject import (
    Subject,
    asked_part,
    premises_doubted,
    share_covered,
)
from afterd.localization.formula.widening import Windows, look_back, widest_answer
from afterd.logic import Corrections, Diagnosis, Found, ProgramFormula, TooLargeError

SIZE = 5
"""Statements of one diagnosis at most (III-B6, Solution Space Pruning)."""

_ONCE = "only paths that leave the run's way once at a time are asked about{part}: {why}"


def bugassist(
    subjects: Sequence[Subject],
    solver: Corrections,
    weights: Mapping[Line, int] | None = None,
    size: int = SIZE,
) -> Report:
    """The minimal sets of statements whose change could have made the input pass; with several
    inputs all of them, in one formula.

    Single statements are asked for with all the time there is: some of them without the others say little.
    Where all paths are too many, ``paths_leaving_once`` are the answer; where they are many, those are asked about
    first, and what they said stays where the time for all is up: with an answer from them this input has no more
    than its own part of the time, and another input has an answer, too.
    """
    name = "BA" if weights is None else "BA+CW"
    known: Sequence[Diagnosis] = ()
    try:
        with solver.pressed():
            formulas = [subject.all_paths() for subject in subjects]
            known = _repaired_by_few(subjects, formulas, solver, weights)
        with nullcontext() if known else solver.pressed():
            encoded = encoded_together(formulas, solver)
            found = solver.enumerate(encoded, weights, size=1, repairs=known)
    except TooLargeError as refused:
        too_many = str(refused)
    else:
        too_many = ""
    if too_many:
        solver.restart()
        if not known:
            return _leaving_once(name, subjects, solver, weights, too_many)
        reason = _ONCE.format(part="", why=too_many)
        return Report(name, ordered_diagnoses(known, weights), reason, (tuple(known),), weights)
    if found.finished and size > 1:
        larger = solver.enumerate(encoded, weights, found.cores, size, repairs=known)
        found = larger if larger.finished else replace(found, reason=larger.reason)
    found = replace(found, diagnoses=tuple(dict.fromkeys((*found.diagnoses, *known))))
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


@dataclass(frozen=True, slots=True)
class _AboutEnds:
    """The single statements that repair the inputs by paths that leave the runs' ways once at a time, of their last
    ``windows``; ``settled``: all of these.
    """

    windows: Windows
    found: Found
    formulas: Sequence[ProgramFormula] = ()
    clauses: int = 0

    @property
    def settled(self) -> bool:
        """Whether all single statements are known."""
        return self.found.finished > 0

    @property
    def sets(self) -> Sequence[Diagnosis]:
        """The statements."""
        return self.found.diagnoses


def _repaired_by_few(
    subjects: Sequence[Subject],
    every: Sequence[ProgramFormula],
    solver: Corrections,
    weights: Mapping[Line, int] | None,
) -> Sequence[Diagnosis]:
    """Single statements that repair the inputs by paths that leave the runs' ways once at a time; none where all
    paths are so few that they are asked about as soon, or where these are too many clauses: all paths of a long run
    copy no record elsewhere, so they may be fewer. Raises TooLargeError.
    """
    whole = tuple(subject.windows()[-1] for subject in subjects)
    if sum(formula.instances for formula in every) <= (1 + DEMAND.factor) * sum(whole):
        return ()
    look_back(subjects, whole)
    try:
        found, _ = _single_statements(subjects, solver, weights)
    except TooLargeError:
        if solver.over:
            raise
        return ()
    finally:
        solver.restart()
    return found.diagnoses


def _single_statements(
    subjects: Sequence[Subject], solver: Corrections, weights: Mapping[Line, int] | None
) -> tuple[Found, Sequence[ProgramFormula]]:
    """What repairs the inputs by paths that leave the runs' ways once at a time, of what is looked back over, and the
    formulas that were asked. Raises TooLargeError.
    """
    formulas = [subject.paths_leaving_once() for subject in subjects]
    return solver.enumerate(encoded_together(formulas, solver), weights, size=1), formulas


def _leaving_once(
    name: str,
    subjects: Sequence[Subject],
    solver: Corrections,
    weights: Mapping[Line, int] | None,
    too_many: str,
) -> Report:
    """Single statements from few paths: a repair of one decision or one value mostly needs no other side within
    the side that it takes. Whatever is found is a repair; what needs more sides at once is not.

    A long run is asked about from its end, as on demand.
    """

    def ask(windows: Windows) -> _AboutEnds:
        try:
            found, formulas = _single_statements(subjects, solver, weights)
        except TooLargeError as refused:
            return _AboutEnds(windows, Found(complete=False, reason=str(refused)))
        return _AboutEnds(windows, found, formulas, solver.encoding.size)

    try:
        about = widest_answer(subjects, solver, ask, most=LOGIC.clauses)
    except TooLargeError:
        return Report(name, reason=f"gives up: {too_many}", weights=weights)
    if not about.sets and not about.settled:
        why = "; ".join(dict.fromkeys([too_many, about.found.reason]))
        return Report(name, reason=f"gives up: {why}", weights=weights)
    part = asked_part(subjects, about.windows)
    said = _ONCE.format(part=part, why=too_many)
    nothing = "" if about.sets else "no single statement could repair it"
    reason = "; ".join(filter(None, [nothing, said, about.found.reason]))
    notes = dict.fromkeys(note for formula in about.formulas for note in formula.notes)
    return Report(
        name, ordered_diagnoses(about.sets, weights), reason, (about.found.diagnoses,), weights,
        tuple(notes), about.clauses, 0, sum(formula.instances for formula in about.formulas),
        share_covered(subjects, about.windows),
    )  # fmt: skip
