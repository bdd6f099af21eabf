"""python-sat's process: RC2 for correction sets, MUSX and OptUx for cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from time import process_time
from typing import Any

from pysat.card import CardEnc, EncType
from pysat.examples.musx import MUSX
from pysat.examples.optux import OptUx
from pysat.examples.rc2 import RC2
from pysat.formula import WCNF

from afterd.execution.worker_process import serve
from afterd.logic.cpu_alarm import CpuAlarm

Found = Iterator[list[int] | None]
"""Sets, best first; None when the time was up."""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Answer one question; see ``maxsat.MaxSat`` for what they mean."""
    began = process_time()
    match request["ask"]:
        case "correction":
            found = _correction_sets(request)
        case "core":
            found = _core(request)
        case _:
            found = _smallest_core(request)
    return {**_collected_solutions(found, request["count"]), "cpu": process_time() - began}


def _collected_solutions(found: Found, count: int) -> dict[str, Any]:
    sets: list[list[int]] = []
    for members in found:
        if members is None:
            return {"sets": sets, "complete": False, "reason": "time-out"}
        if len(sets) == count:
            return {"sets": sets, "complete": False, "reason": f"more than {count} sets"}
        sets.append(members)
    return {"sets": sets, "complete": True, "reason": ""}


def _correction_sets(request: dict[str, Any]) -> Found:
    formula, selectors = _relaxed_formula(request)
    if request["size"] < len(selectors):
        dropped = [-selector for selector in selectors]
        bound = CardEnc.atmost(dropped, request["size"], formula.nv, encoding=EncType.seqcounter)
        for clause in bound.clauses:
            formula.append(clause)
    with RC2(formula) as solver:
        with CpuAlarm(request["seconds"], solver.interrupt) as alarm:
            for model in solver.enumerate(block=-1, expect_interrupt=True):
                kept = set(model)
                yield [index for index, selector in enumerate(selectors) if selector not in kept]
        if alarm.rang:
            yield None


def _relaxed_formula(request: dict[str, Any]) -> tuple[WCNF, list[int]]:
    """Each soft clause behind a selector that is soft itself."""
    formula = WCNF()
    clauses: Iterable[Sequence[int]] = chain(request["hard"], request["soft"])
    top = max((abs(literal) for clause in clauses for literal in clause), default=0)
    selectors = list(range(top + 1, top + 1 + len(request["soft"])))
    for clause in request["hard"]:
        formula.append(clause)
    for selector, clause, weight in zip(
        selectors, request["soft"], request["weights"], strict=True
    ):
        formula.append([-selector, *clause])
        formula.append([selector], weight=weight)
    return formula, selectors


def _weighted_formula(request: dict[str, Any]) -> WCNF:
    formula = WCNF()
    for clause in request["hard"]:
        formula.append(clause)
    for clause, weight in zip(request["soft"], request["weights"], strict=True):
        formula.append(clause, weight=weight)
    return formula


def _core(request: dict[str, Any]) -> Found:
    with MUSX(_weighted_formula(request), verbosity=0) as solver:
        core = solver.compute()
        if core is not None:
            yield sorted(index - 1 for index in core)


def _smallest_core(request: dict[str, Any]) -> Found:
    if next(_core(request), None) is None:  # OptUx takes it for granted that there is one
        return
    with OptUx(_weighted_formula(request)) as solver:
        core = solver.compute()
        if core is not None:
            yield sorted(index - 1 for index in core)


if __name__ == "__main__":
    serve(answer)
