"""Causes: the steps behind one predicate, and how each is known."""

from __future__ import annotations

from dataclasses import dataclass

from afterd.causality.signs import Sign
from afterd.model.explanation import Evidence
from afterd.model.trace import Predicate, Step


@dataclass(frozen=True, slots=True)
class Cause:
    """A causal chain for one predicate (AFTER, section II-A).

    ``steps`` are its generator instructions (Definition 1) in execution order, the predicate's own
    step last. ``evidence`` is PROVED for an unsat core, ``minimal`` where each of its steps was
    shown to be needed; INFERRED for a dynamic slice, and for a core that rests on values taken as
    observed because the walk was cut. ``beyond`` are the other steps that the predicate depends on,
    nearest first, as far as they were looked at; ``origins`` those from which its infected steps have what
    no step of the core gave them. ``made_concrete`` are the reasons why terms of its
    steps were not followed by the theory, each once.
    """

    predicate: Predicate
    steps: tuple[Step, ...]
    evidence: Evidence
    minimal: bool = True
    beyond: tuple[Step, ...] = ()
    made_concrete: tuple[str, ...] = ()
    note: str = ""
    origins: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A cause in the order of discovery: which cause it is upstream of, and how that is known.

    ``parent`` is the index of that cause (None for a failed assertion's own). ``level`` counts the
    critical predicates between the failure and this cause. ``doubt`` is how the green run speaks against
    its predicate having mattered, if it does.
    """

    cause: Cause
    parent: int | None = None
    evidence: Evidence = Evidence.PROVED
    level: int = 0
    doubt: tuple[Sign, ...] = ()
