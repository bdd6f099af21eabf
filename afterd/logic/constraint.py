"""The questions asked of the solver and its answers, as values. Pure: no solver is known here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, islice

from afterd.logic.terms import bottom_up
from afterd.logic.theory import Precision
from afterd.model.term import Sort, StepId, Term, Value


class Kind(StrEnum):
    """What a constraint says about its step."""

    DEFINES = "defines"  # the value defined by the step is the term's
    ASSUMES = "assumes"  # the (Boolean) term holds: a path condition


@dataclass(frozen=True, slots=True)
class Constraint:
    """One conjunct of the weakest precondition, tied to the step that generated it."""

    step: StepId
    kind: Kind
    term: Term

    @property
    def sort(self) -> Sort:
        """The sort of the value that a DEFINES constraint defines."""
        return self.term.sort


@dataclass(frozen=True, slots=True)
class Problem:
    """Why can ``goal`` not hold? ``constraints`` stand nearest the failure first.

    ``drop_order`` lists steps in the order in which the search for a minimal core tries to do
    without them; what is not listed is tried last, farthest from the failure first.
    """

    constraints: tuple[Constraint, ...]
    goal: Term
    drop_order: tuple[StepId, ...] = ()
    precision: Precision = Precision.EXACT


def exceeds(problem: Problem, size: int) -> bool:
    """Whether the problem has more than ``size`` distinct terms."""
    done: set[int] = set()
    terms = chain((problem.goal,), (constraint.term for constraint in problem.constraints))
    distinct = chain.from_iterable(bottom_up(term, done) for term in terms)
    return next(islice(distinct, size, None), None) is not None


@dataclass(frozen=True, slots=True)
class Satisfiable:
    """There is a model; ``values`` of the reads that were asked for."""

    values: Mapping[StepId, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unsatisfiable:
    """The goal is impossible. ``core``: steps, nearest the failure first.

    ``suffix`` is how many constraints from the failure backwards were enough; ``minimal`` whether
    every step of the core was shown to be needed (the solver may give up on one); ``precision``
    whether hard operators had to be made concrete for it.
    """

    core: tuple[StepId, ...] = ()
    suffix: int = 0
    minimal: bool = True
    precision: Precision = Precision.EXACT


@dataclass(frozen=True, slots=True)
class Undecided:
    """The solver's UNKNOWN: out of resources, time or memory, dead, or refuted."""

    reason: str


Answer = Satisfiable | Unsatisfiable | Undecided
