"""OFC: the formula grows from the failing trace (Jin and Orso, section III-B, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from afterd.localization.formula.bugassist import SIZE
from afterd.localization.formula.report import Line, Report, ordered
from afterd.localization.formula.subject import Subject
from afterd.logic.correction import Corrections, Diagnosis, Found
from afterd.logic.encoding import Encoded
from afterd.logic.program_formula import Branch, Frontier, ProgramFormula, TooLargeError

ITERATIONS = 60

FACTOR = 3


def on_demand(
    subject: Subject,
    solver: Corrections,
    weights: Mapping[Line, int] | None = None,
    size: int = SIZE,
) -> Report:
    """The diagnoses of the failing input, from as few paths as they need.

    A side that was not executed is free, so each iteration's formula says less than the next one's
    and than BugAssist's. The paper expands the unvisited side of every conditional in a CoMSS. We
    ask more exactly: a CoMSS is expanded where it repairs nothing without a side that is not
    encoded, whether the conditional is in it or only follows from what is. When none is left, every
    CoMSS has a repair within the formula, so it is one of BugAssist's; and each of BugAssist's
    contains one of ours, so that the two sets are equal (the paper observed it).

    Where the formula outgrows its bounds, the last iteration's are the answer, and it says so: each
    of BugAssist's contains one of them, but what one of them needs of other sides is not known.
    """
    name = "OFC" if weights is None else "OFC+CW"
    explored: set[Branch] = set()
    history: list[tuple[Diagnosis, ...]] = []
    found, settled = Found(), Found()
    formula: ProgramFormula | None = None
    encoded: Encoded | None = None
    for bound in sorted({1, size}):  # single statements first: they are what is mostly wanted
        for _ in range(ITERATIONS):
            try:
                if formula is None or encoded is None:
                    formula = subject.on_demand(explored)
                    encoded = solver.encoding.encode(formula)
            except TooLargeError as refused:
                if not found.diagnoses and subject.narrow():
                    explored, found, encoded = set(), Found(), None
                    solver.restart()
                    continue
                reason = f"gives up: {refused}" if not history else f"stopped growing: {refused}"
                answer = settled if settled.finished else replace(found, finished=0)
                return _report(name, answer, reason, history, weights, formula, solver)
            found = solver.enumerate(encoded, weights, found.cores, bound)
            history.append(found.diagnoses)
            fresh = {formula.frontier[at].branch for at in found.needs} - explored
            if not fresh:
                break
            explored |= grown(fresh, explored, formula.frontier)
            encoded = None
        if fresh or not (found.complete or found.finished):
            break
        settled = found
        if not found.complete:
            break
    answer = settled if settled.finished else found
    return _report(name, answer, found.reason, history, weights, formula, solver)


def grown(
    needed: AbstractSet[Branch], explored: AbstractSet[Branch], frontier: Sequence[Frontier]
) -> set[Branch]:
    """The sides to add: those that are needed, and the latest others up to a few times as many as
    there are.

    Every iteration costs as much as the whole formula does, so a formula that has to grow again
    grows by a factor: the number of iterations is then the logarithm of the number of sides.
    """
    added = dict.fromkeys(needed)
    for side in reversed(frontier):
        if len(added) >= FACTOR * len(explored):
            break
        if side.branch not in explored:
            added[side.branch] = None
    return set(added)


def _report(
    name: str,
    found: Found,
    reason: str,
    history: list[tuple[Diagnosis, ...]],
    weights: Mapping[Line, int] | None,
    formula: ProgramFormula | None,
    solver: Corrections,
) -> Report:
    notes = (*(formula.notes if formula else ()), *solver.encoding.notes)
    return Report(
        name, ordered(found.diagnoses, weights), reason, tuple(history), weights, notes,
        solver.encoding.size, found.finished,
    )  # fmt: skip
