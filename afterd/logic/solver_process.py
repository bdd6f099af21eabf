"""The solver's child process: z3 can crash, hang or run out of memory here, and only here."""

from __future__ import annotations

from typing import Any

import z3

from afterd.execution.worker_process import serve
from afterd.limits import MIB
from afterd.logic.constraint import Answer, Satisfiable, Undecided, Unsatisfiable
from afterd.logic.session import Session, Verdict, all_reads
from afterd.logic.unsat_core import explain
from afterd.logic.wire import decode_problem, encode_answer


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Answer one question; ``ask`` is "core" (why not?) or "model" (how?)."""
    z3.set_param("memory_max_size", max(1, request["memory"] // MIB))
    try:
        session = Session(decode_problem(request["problem"]), request["rlimit"], request["timeout"])
        found = explain(session) if request["ask"] == "core" else solve(session)
        checks, units = session.checks, session.used
    except (z3.Z3Exception, MemoryError) as error:
        found, checks, units = Undecided(f"the solver failed: {error}"), 1, request["rlimit"]
    return {**encode_answer(found), "checks": checks, "units": units}


def solve(session: Session) -> Answer:
    """Whether goal and constraints can all hold, with a value for every read of theirs."""
    indices = range(len(session.problem.constraints))
    verdict = session.check(indices)
    if verdict is Verdict.SAT:
        return Satisfiable(session.values(all_reads(session.problem, indices).values()))
    if verdict is Verdict.UNSAT:
        core = sorted(session.core())
        steps = tuple(session.problem.constraints[i].step for i in core)
        return Unsatisfiable(steps, len(indices), minimal=False)
    return Undecided(session.reason)


if __name__ == "__main__":
    serve(answer)
