"""Cardinality- and weight-aware questions to python-sat, asked from outside its process.

Clauses are tuples of non-zero integers, as in DIMACS. A soft clause is known by its index. Answers
that a limit cut short say so: what was found until then is kept where the kind of answer allows it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from afterd.execution.worker import Died, Reply, Worker
from afterd.limits import SolverLimits, WorkerLimits

Literals = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Formula:
    """A partial MaxSAT problem; ``weights`` of the soft clauses, positive (empty: 1 each)."""

    hard: tuple[Literals, ...]
    soft: tuple[Literals, ...]
    weights: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Sets:
    """Sets of soft clauses (or of elements), best first; ``reason`` where they are not all."""

    sets: tuple[tuple[int, ...], ...] = ()
    complete: bool = True
    reason: str = ""


class Asks(Protocol):
    """The part of a worker that is needed here."""

    def ask(self, request: dict[str, Any], seconds: float | None = None) -> Reply | Died:
        """The reply, or how the child died."""
        ...

    def close(self) -> None:
        """End the child."""
        ...


class MaxSat:
    """python-sat in a process of its own; ``calls`` counts the questions, ``seconds`` its CPU time."""

    def __init__(self, limits: SolverLimits | None = None, worker: Asks | None = None) -> None:
        self.limits = limits or SolverLimits()
        self.calls = 0
        self.seconds = 0.0
        self._worker = worker or Worker(
            "afterd.logic.maxsat_process",
            WorkerLimits(request=self.limits.wall, address_space=self.limits.address_space),
        )

    def correction_sets(self, formula: Formula, size: int = 5, count: int = 1000) -> Sets:
        """CoMSSs: minimal sets of soft clauses without which the rest can be satisfied.

        In order of total weight (of size, where all weights are 1), none larger than ``size``, at
        most ``count``. One empty set where nothing need be dropped; none where the hard clauses
        contradict each other.
        """
        return self._sets("correction", _encoded_formula(formula), size, count)

    def minimum(self, formula: Formula) -> Sets:
        """The cheapest set of soft clauses to drop: weighted partial MaxSAT."""
        return self.correction_sets(formula, len(formula.soft), 1)

    def unsatisfiable_core(self, formula: Formula, *, smallest: bool = False) -> Sets:
        """One minimal set of soft clauses that contradicts the hard ones; none if satisfiable.

        Subset-minimal, or of least weight (``smallest``), which takes longer.
        """
        return self._sets("smallest core" if smallest else "core", _encoded_formula(formula), 0, 1)

    def hitting_sets(
        self,
        sets: Sequence[Sequence[int]],
        size: int = 5,
        count: int = 1000,
        weights: Mapping[int, int] | None = None,
        seconds: float = math.inf,
    ) -> Sets:
        """Minimal sets of elements (positive integers) with one in common with each of ``sets``.

        Ordered and bounded as ``correction_sets``, and by so many ``seconds`` of CPU time.
        """
        elements = sorted({element for members in sets for element in members})
        place = {element: index for index, element in enumerate(elements)}
        hard = tuple(tuple(place[e] + 1 for e in members) for members in sets)
        soft = tuple((-(index + 1),) for index in range(len(elements)))
        costs = tuple(weights[element] for element in elements) if weights else ()
        problem = _encoded_formula(Formula(hard, soft, costs))
        found = self._sets("correction", problem, size, count, seconds)
        chosen = tuple(tuple(elements[i] for i in members) for members in found.sets)
        return Sets(chosen, found.complete, found.reason)

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def _sets(
        self,
        question: str,
        problem: Mapping[str, Any],
        size: int,
        count: int,
        seconds: float = math.inf,
    ) -> Sets:
        self.calls += 1
        request = {
            **problem,
            "ask": question,
            "size": size,
            "count": count,
            "seconds": max(0.0, min(self.limits.timeout, seconds)),
        }
        reply = self._worker.ask(request, self.limits.wall)
        if isinstance(reply, Died):
            return Sets(complete=False, reason=f"the MaxSAT solver {reply.detail}")
        self.seconds += float(reply.value["cpu"])
        sets = tuple(tuple(members) for members in reply.value["sets"])
        return Sets(sets, reply.value["complete"], reply.value["reason"])


def _encoded_formula(formula: Formula) -> dict[str, Any]:
    return {
        "hard": formula.hard,
        "soft": formula.soft,
        "weights": formula.weights or (1,) * len(formula.soft),
    }
