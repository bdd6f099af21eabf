"""python-sat's process: RC2 for correction sets, MUSX and OptUx for cores, Hitman to hit sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from threading import Timer
from typing import Any

from pysat.card import CardEnc, EncType
from pysat.examples.hitman import Hitman
from pysat.examples.musx import MUSX
from pysat.examples.optux import OptUx
from pysat.examples.rc2 import RC2
from pysat.formula import WCNF

from afterd.execution.worker_process import serve

Found = Iterator[list[int] | None]
"""Sets, best first; None when the time was up."""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Answer one question; see ``maxsat.MaxSat`` for what they mean."""
    match request["ask"]:
        case "correction":
            found = _correction_sets(request)
        case "hitting":
            found = _hitting_sets(request)
        case "core":
            found = _core(request)
        case _:
            found = _smallest_core(request)
    return _collected(found, request["count"])


def _collected(found: Found, count: int) -> dict[str, Any]:
    sets: list[list[int]] = []
    for members in found:
        if members is None:
            return {"sets": sets, "complete": False, "reason": "time-out"}
        if len(sets) == count:
            return {"sets": sets, "complete": False, "reason": f"more than {count} sets"}
        sets.append(members)
    return {"sets": sets, "complete": True, "reason": ""}


def _correction_sets(request: dict[str, Any]) -> Found:
    formula, selectors = _relaxed(request)
    if request["size"] < len(selectors):
        dropped = [-selector for selector in selectors]
        bound = CardEnc.atmost(dropped, request["size"], formula.nv, encoding=EncType.seqcounter)
        for clause in bound.clauses:
            formula.append(clause)
    with RC2(formula) as solver:
        timer = Timer(request["seconds"], solver.interrupt)
        timer.start()
        models = solver.enumerate(block=-1, expect_interrupt=True)
        for model in models:
            kept = set(model)
            yield [index for index, selector in enumerate(selectors) if selector not in kept]
        late = not timer.is_alive()
        timer.cancel()
        if late:
            yield None


def _relaxed(request: dict[str, Any]) -> tuple[WCNF, list[int]]:
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


def _hitting_sets(request: dict[str, Any]) -> Found:
    with Hitman(bootstrap_with=request["hard"], htype="sorted") as hitman:
        for members in hitman.enumerate():
            if len(members) > request["size"]:
                return
            yield sorted(element - 1 for element in members)


def _weighted(request: dict[str, Any]) -> WCNF:
    formula = WCNF()
    for clause in request["hard"]:
        formula.append(clause)
    for clause, weight in zip(request["soft"], request["weights"], strict=True):
        formula.append(clause, weight=weight)
    return formula


def _core(request: dict[str, Any]) -> Found:
    with MUSX(_weighted(request), verbosity=0) as solver:
        core = solver.compute()
        if core is not None:
            yield sorted(index - 1 for index in core)


def _smallest_core(request: dict[str, Any]) -> Found:
    if next(_core(request), None) is None:  # OptUx takes it for granted that there is one
        return
    with OptUx(_weighted(request)) as solver:
        core = solver.compute()
        if core is not None:
            yield sorted(index - 1 for index in core)


if __name__ == "__main__":
    serve(answer)
