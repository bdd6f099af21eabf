"""python-sat's process for diagnosis: one incremental solver, asked again as the formula grows.

Correction sets come smallest (or lightest) first by hitting-set duality (Reiter 1987; Liffiton and
Sakallah 2008): RC2 proposes a smallest set of statements that meets every core found so far; where
the rest is satisfiable without it, it is a CoMSS, otherwise the solver gives another core. Cores
outlive the question: what contradicts a formula contradicts every formula that says more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Timer
from time import monotonic
from typing import Any

from pysat.card import CardEnc, EncType
from pysat.examples.rc2 import RC2
from pysat.formula import WCNF
from pysat.solvers import Solver

from afterd.execution.worker_process import serve

Literals = list[int]


_PATIENCE = 8
"""Sets that need a side outside of the formula, after which it grows before it is asked further."""


class TimeUpError(Exception):
    """The question's time is over."""


@dataclass(slots=True)
class Session:
    """The clauses sent so far, in one solver."""

    solver: Any = field(default_factory=lambda: Solver(name="glucose4", use_timer=False))
    deadline: float = 0.0

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one question; see ``correction.Corrections`` for what they mean."""
        if request["fresh"]:
            self.solver.delete()
            self.solver = Solver(name="glucose4")
        for clause in request["clauses"]:
            self.solver.add_clause(clause)
        self.deadline = monotonic() + request["seconds"]
        match request["ask"]:
            case "corrections":
                return self.corrections(request)
            case "core":
                return self.one_core(request)
        return self.model(request)

    def satisfiable(self, assumptions: Literals) -> bool:
        """Whether the clauses can hold with these literals."""
        seconds = self.deadline - monotonic()
        if seconds <= 0:
            raise TimeUpError
        timer = Timer(seconds, self.solver.interrupt)
        timer.start()
        try:
            found = self.solver.solve_limited(assumptions=assumptions, expect_interrupt=True)
        finally:
            timer.cancel()
            self.solver.clear_interrupt()
        if found is None:
            raise TimeUpError
        return bool(found)

    def corrections(self, request: dict[str, Any]) -> dict[str, Any]:
        """CoMSSs in order, the cores behind them, and frontiers that one of them needs."""
        sets: list[Literals] = []
        cores: list[Literals] = [list(core) for core in request["cores"]]
        needs: dict[int, None] = {}
        needy = 0
        found = {"sets": sets, "cores": cores, "complete": False, "reason": ""}
        try:
            for members in self._enumerate(request, cores):
                sets.append(members)
                needed = self._frontier_needed(request, members)
                needs.update(dict.fromkeys(needed))
                needy += bool(needed)
                if needy >= _PATIENCE or len(sets) >= request["count"]:
                    reason = "the formula must grow" if needy else f"{len(sets)} sets are enough"
                    return {**found, "needs": list(needs), "reason": reason}
        except TimeUpError:
            return {**found, "needs": list(needs), "reason": "time-out"}
        return {**found, "needs": list(needs), "complete": not needs}

    def _enumerate(self, request: dict[str, Any], cores: list[Literals]) -> Iterator[Literals]:
        selectors: Literals = request["selectors"]
        hard: Literals = request["hard"]
        with _hitting(selectors, request["weights"], request["size"], cores) as hitting:
            while (model := hitting.compute()) is not None:
                kept = set(model)
                proposed = [s for s in selectors if -s in kept]
                dropped = set(proposed)
                if self.satisfiable([*hard, *(s for s in selectors if s not in dropped)]):
                    yield proposed
                    if not proposed:
                        return
                    hitting.add_clause(proposed)
                    continue
                core = self._core_of(hard, [s for s in selectors if s not in dropped])
                if not core:
                    return
                cores.append(core)
                hitting.add_clause([-s for s in core])

    def _core_of(self, hard: Literals, selectors: Literals) -> Literals:
        """A minimal core among the selectors after an unsatisfiable answer: deletion, one by one."""
        among = set(selectors)
        core = [s for s in self.solver.get_core() or [] if s in among]
        at = 0
        while at < len(core):
            rest = core[:at] + core[at + 1 :]
            if self.satisfiable([*hard, *rest]):
                at += 1
            else:
                smaller = set(self.solver.get_core() or [])
                core = [s for s in rest if s in smaller]
                at = min(at, len(core))
                at = sum(1 for s in core[:at] if s in smaller)
        return core

    def _frontier_needed(self, request: dict[str, Any], dropped: Literals) -> Literals:
        """The frontiers that are taken in every repair by these statements; none if one can do without."""
        frontier: Literals = request["frontier"]
        if not frontier:
            return []
        gone = set(dropped)
        kept = [s for s in request["selectors"] if s not in gone]
        stay = [-taken for taken in frontier]
        hard = [*request["hard"], *kept]
        if self.satisfiable([*hard, *stay]):
            return []
        return [-closed for closed in self._core_of(hard, stay)]

    def one_core(self, request: dict[str, Any]) -> dict[str, Any]:
        """A minimal core of the selectors; none where all can hold."""
        try:
            if self.satisfiable([*request["hard"], *request["selectors"]]):
                return {"sat": True, "core": [], "reason": ""}
            return {
                "sat": False,
                "core": self._core_of(request["hard"], request["selectors"]),
                "reason": "",
            }
        except TimeUpError:
            return {"sat": None, "core": [], "reason": "time-out"}

    def model(self, request: dict[str, Any]) -> dict[str, Any]:
        """Whether the literals can hold, and which of ``wanted`` do in the model."""
        try:
            if not self.satisfiable(request["hard"]):
                return {"sat": False, "true": [], "reason": ""}
        except TimeUpError:
            return {"sat": None, "true": [], "reason": "time-out"}
        true = set(self.solver.get_model() or [])
        return {"sat": True, "true": [v for v in request["wanted"] if v in true], "reason": ""}


def _hitting(
    selectors: Sequence[int], weights: Sequence[int], size: int, cores: Sequence[Literals]
) -> RC2:
    """Smallest hitting sets of the cores with at most ``size`` members, as a MaxSAT problem."""
    formula = WCNF()
    for core in cores:
        formula.append([-s for s in core])
    if size < len(selectors):
        top = max(selectors, default=0)
        bound = CardEnc.atmost(
            [-s for s in selectors], size, top_id=top, encoding=EncType.seqcounter
        )
        for clause in bound.clauses:
            formula.append(clause)
    for selector, weight in zip(selectors, weights, strict=True):
        formula.append([selector], weight=weight)
    return RC2(formula)


if __name__ == "__main__":
    serve(Session().answer)
