"""The weakest precondition along a failing path, as constraints over SSA names (AFTER, II-A).

In SSA form the paper's ``wp(x := e, φ) = φ[e/x]`` is the conjunct ``x_step = e``, and
``wp(if (c), φ) = φ ∧ c`` is the conjunct ``c``: no formula is ever rewritten, each conjunct stays
tied to the step that generated it (Definition 1, generator instructions), and the precondition of a
longer suffix is that of the shorter one with more conjuncts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from afterd.logic.constraint import Constraint, Kind, Problem
from afterd.logic.terms import distinct_reads
from afterd.model.term import BOOL, Apply, Const, Op, Read, SortKind, Term
from afterd.model.trace import Alignment, Predicate, Step, StepKind

_INFECTED = frozenset({Alignment.DIFFERENT, Alignment.ABSENT})


def weakest_precondition(
    predicate: Predicate,
    steps: Sequence[Step],
    facts: Iterable[Read] = (),
    known: Callable[[Step], bool] = lambda _step: False,
) -> Problem:
    """The condition of ``predicate`` under the precondition of ``steps``, nearest step first.

    ``known`` says which steps are not followed further back: they contribute the value they had.
    ``facts`` are reads whose defining step is not among ``steps``: the values they had.
    """
    constraints = [
        as_observed(step) if known(step) else generated_constraint(step) for step in steps
    ]
    constraints += [_fact(read) for read in sorted(facts, key=lambda read: -read.step)]
    return Problem(tuple(constraints), predicate.condition, _drop_order(steps))


def generated_constraint(step: Step) -> Constraint:
    """The conjunct that a step generates."""
    if step.kind is StepKind.BRANCH:
        return Constraint(step.id, Kind.ASSUMES, outcome(step))
    if step.kind is StepKind.INITIAL or not distinct_reads(step.term):
        return as_observed(step)
    return Constraint(step.id, Kind.DEFINES, step.term)


def as_observed(step: Step) -> Constraint:
    """What is known of a step when nobody asks why: its value, or the way its branch went."""
    if step.kind is StepKind.BRANCH:
        return Constraint(step.id, Kind.ASSUMES, outcome(step))
    term = step.term
    if step.value is not None or term.sort.kind is SortKind.OPAQUE:
        term = Const(step.value, term.sort)
    return Constraint(step.id, Kind.DEFINES, term)


def outcome(branch: Step) -> Term:
    """The condition of a branch, as it went."""
    return branch.term if branch.value else Apply(Op.NOT, (branch.term,), BOOL)


def _fact(read: Read) -> Constraint:
    return Constraint(read.step, Kind.DEFINES, Const(read.value, read.sort))


def _drop_order(steps: Sequence[Step]) -> tuple[int, ...]:
    """Steps that no change touched and that are as in green go first, the oldest before others.

    Where several cores are minimal, the one that is kept so speaks of changed and of infected
    steps, and of those near the failure.
    """
    return tuple(step.id for step in sorted(steps, key=lambda step: (suspect(step), step.id)))


def suspect(step: Step) -> bool:
    """Whether a change touched the step or the green run had something else there."""
    return bool(step.changes) or step.green.alignment in _INFECTED
