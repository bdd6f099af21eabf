"""Causes: the steps behind one predicate, and how each is known."""

from __future__ import annotations

from dataclasses import dataclass

from afterd.model.explanation import Evidence
from afterd.model.term import Read, StepId
from afterd.model.trace import Predicate, Step


@dataclass(frozen=True, slots=True)
class Cause:
    """A causal chain for one predicate (AFTER, section II-A).

    ``steps`` are its generator instructions (Definition 1), nearest the predicate first; ``beyond``
    are steps of the dynamic slice that are not in the core. ``cut`` are reads at which the walk
    stopped or that only dependence leads past (external calls): the values they had were taken as
    facts. ``evidence`` is PROVED for a minimal unsat core, INFERRED for a slice.
    """

    predicate: Predicate
    steps: tuple[Step, ...]
    beyond: tuple[Step, ...]
    cut: tuple[Read, ...]
    evidence: Evidence
    note: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """How a cause was come by: the cause that it is upstream of, and the predicate between them."""

    cause: Cause
    parent: int | None  # index of the cause below it; None for the failed assertion's own
    evidence: Evidence  # of the edge


def branch_of(cause: Cause) -> StepId:
    """The step that the cause's predicate is about."""
    return cause.predicate.step
