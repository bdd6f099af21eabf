"""Semantic analysis: why can a predicate not have been otherwise? (AFTER, section II-A)

The backward slice of the predicate is collected in growing pieces until its weakest precondition
under them is unsatisfiable; a minimal core of it, mapped back to the steps that generated it, is
the cause. Where the solver has no answer the dynamic slice stands for it, marked as inferred.
Whether a longer slice can help is asked first: most do not where much is not modelled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from afterd.causality.cause import Cause
from afterd.causality.infection import is_clean, is_settled
from afterd.limits import WORK
from afterd.logic import theory
from afterd.logic.constraint import Answer, Problem, Undecided, Unsatisfiable
from afterd.logic.propagation import contradiction
from afterd.logic.wp import weakest_precondition
from afterd.model.explanation import Evidence
from afterd.model.term import Read, StepId
from afterd.model.trace import Execution, Predicate, Step
from afterd.trace.slicing import BackwardSlice

CoreOf = Callable[[Problem], Answer]
"""Why a problem's goal cannot hold (``logic.solver.Solver.core``)."""


@dataclass(frozen=True, slots=True)
class SliceLimits:
    """How many steps are taken at first, by what factor that grows, and how many at most.

    After so much ``work`` (``Execution.work``) no more are taken: in a run of 30 million records one
    predicate took a minute, and the one that mattered was not asked for any more. Then what was not
    followed is taken as observed. It is counted, not timed: the same everywhere.
    """

    first: int = 400
    growth: int = 4
    most: int = 4000
    work: int = WORK.predicate
    inferred: int = 400  # steps that stand for a cause which the solver could not find


def semantic_analysis(
    execution: Execution,
    predicate: Predicate,
    core_of: CoreOf,
    limits: SliceLimits | None = None,
) -> Cause:
    """The cause of ``predicate``: the generator instructions of a minimal unsat core."""
    limits = limits or SliceLimits()
    own = execution.step(predicate.step)
    controls = () if own.control is None else (own.control,)
    walk = BackwardSlice(
        execution, [predicate.condition], controls, expand=lambda step: not is_settled(step)
    )
    steps: list[Step] = []
    answer: Answer = Undecided("nothing was asked")
    hopeless = False
    until = execution.work() + limits.work
    for count in _sizes(limits):
        steps += walk.take(count - len(steps), lambda: execution.work() > until)
        late = execution.work() > until
        cut = not walk.exhausted and (late or count == limits.most)
        facts = walk.pending() if cut else []
        if not (hopeless or walk.exhausted):
            unforced = _unforced_answer(predicate, steps, walk.pending(), core_of)
            answer, hopeless = unforced or answer, unforced is not None
        if not hopeless:
            answer = core_of(weakest_precondition(predicate, steps, facts, is_settled))
            hopeless = isinstance(answer, Undecided)  # a longer slice is no easier
        if isinstance(answer, Unsatisfiable):
            return _proved_cause(execution, predicate, answer, facts, steps)
        if walk.exhausted or late:
            break
    return _inferred_cause(execution, predicate, steps, limits.inferred, answer)


def _unforced_answer(
    predicate: Predicate, steps: Sequence[Step], pending: Sequence[Read], core_of: CoreOf
) -> Answer | None:
    """The answer where the predicate can be otherwise although all that the steps read was as
    observed, or where not even that is decided; None where it is forced.

    Then no longer slice forces it either: what that says of those reads is that they were so.
    """
    problem = weakest_precondition(predicate, steps, pending, is_settled)
    if contradiction(problem, range(len(problem.constraints))) is not None:
        return None
    answer = core_of(problem)
    return None if isinstance(answer, Unsatisfiable) else answer


def _sizes(limits: SliceLimits) -> Iterator[int]:
    size = limits.first
    while size < limits.most:
        yield size
        size *= limits.growth
    yield limits.most


def _proved_cause(
    execution: Execution,
    predicate: Predicate,
    core: Unsatisfiable,
    facts: Sequence[Read],
    walked: Sequence[Step],
) -> Cause:
    unfollowed = {read.step for read in facts} & set(core.core)
    steps = _in_order(execution, predicate, core.core)
    note = ""
    if unfollowed:
        note = f"{len(unfollowed)} values were taken as observed: the slice was cut."
    return Cause(
        predicate,
        steps,
        Evidence.INFERRED if unfollowed else Evidence.PROVED,
        core.minimal,
        _other_steps(walked, steps),
        _made_concrete(steps, core.precision),
        note,
    )


def _inferred_cause(
    execution: Execution, predicate: Predicate, walked: Sequence[Step], most: int, answer: Answer
) -> Cause:
    """The dynamic slice, without what is as in green where the green run is known."""
    nearest = walked[:most]
    telling = [step.id for step in nearest if not is_clean(step)] or [step.id for step in nearest]
    steps = _in_order(execution, predicate, telling)
    note = "Its values alone do not decide it: that it depends on these steps is all that is known."
    if isinstance(answer, Undecided):
        note = f"The solver has no answer ({answer.reason}): dependence stands for the cause."
    return Cause(
        predicate,
        steps,
        Evidence.INFERRED,
        minimal=False,
        beyond=_other_steps(walked, steps),
        made_concrete=_made_concrete(steps, theory.Precision.EXACT),
        note=note,
    )


def _other_steps(walked: Sequence[Step], steps: Sequence[Step]) -> tuple[Step, ...]:
    chosen = {step.id for step in steps}
    return tuple(step for step in walked if step.id not in chosen)


def _in_order(
    execution: Execution, predicate: Predicate, chosen: Sequence[StepId]
) -> tuple[Step, ...]:
    """The steps in execution order, with the predicate's own: what it is about, it is part of."""
    return tuple(execution.step(step) for step in sorted({*chosen, predicate.step}))


def _made_concrete(steps: Sequence[Step], precision: theory.Precision) -> tuple[str, ...]:
    found = (reason for step in steps for reason in theory.reasons(step.term, precision))
    return tuple(dict.fromkeys(reason for reason in found if reason))
