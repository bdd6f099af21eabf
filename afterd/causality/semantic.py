"""Semantic analysis: why can a predicate not have been otherwise? (AFTER, section II-A)"""

from __future__ import annotations

from collections.abc import Callable

from afterd.causality.cause import Cause
from afterd.causality.slicing import Slice, backward_slice
from afterd.logic.constraint import Answer, Problem, Undecided, Unsatisfiable
from afterd.logic.wp import weakest_precondition
from afterd.model.explanation import Evidence
from afterd.model.term import Read, concretised
from afterd.model.trace import Execution, Predicate, Step, StepKind

Core = Callable[[Problem], Answer]
"""Answers why a problem's goal cannot hold (``logic.solver.Solver.core``)."""

STEPS = 1500
"""The longest slice that is reasoned about; beyond it values are taken as observed."""
_SHOWN = 60
"""Steps of a slice that stand for a cause when the solver has no answer."""


def semantic_analysis(execution: Execution, predicate: Predicate, core: Core, most: int = STEPS) -> Cause:
    """The cause of a predicate: the steps of a minimal unsat core of its weakest precondition.

    Where the solver has no answer, the nearest steps of the dynamic slice, marked as inferred.
    """
    found = backward_slice(execution, predicate, most)
    own = _own(execution, predicate)
    known = {step.id for step in found.steps}
    problem = weakest_precondition(predicate, found.steps, [r for r in found.cut if r.step not in known])
    answer = core(problem)
    if isinstance(answer, Unsatisfiable):
        chosen = set(answer.core)
        steps = tuple(step for step in found.steps if step.id in chosen)
        beyond = tuple(step for step in found.steps if step.id not in chosen)
        evidence = Evidence.PROVED if answer.minimal else Evidence.INFERRED
        return Cause(predicate, (*own, *steps), beyond, _cut(steps, found, chosen), evidence)
    note = answer.reason if isinstance(answer, Undecided) else "the steps alone do not force it"
    shown = (*own, *found.steps[:_SHOWN])
    return Cause(predicate, shown, found.steps[_SHOWN:], _cut(shown, found, set()), Evidence.INFERRED, note)


def _own(execution: Execution, predicate: Predicate) -> tuple[Step, ...]:
    """The branch that a critical predicate came from is a generator itself (Definition 1)."""
    step = execution.step(predicate.step)
    return (step,) if step.kind in {StepKind.BRANCH, StepKind.OUTPUT, StepKind.OPAQUE} else ()


def _cut(steps: tuple[Step, ...], found: Slice, core: set[int]) -> tuple[Read, ...]:
    """Reads past which no term leads: the slice was cut there, or code that is not traced read them."""
    known = {step.id for step in steps}
    opaque = [read for step in steps for part in concretised(step.term) for read in part.reads]
    cut = [read for read in found.cut if not core or read.step in core]
    return tuple({read.step: read for read in (*opaque, *cut) if read.step not in known}.values())
