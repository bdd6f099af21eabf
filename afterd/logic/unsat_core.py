"""A minimal unsatisfiable core of the shortest failing suffix (AFTER, section II-A).

Runs in the solver's child process, on one incremental session.

0. Where evaluation alone shows a contradiction (``propagation``), z3 is not asked.
1. *Suffix.* "The constraints of the last n steps contradict the goal" is monotone in n, so the
   smallest n is found by galloping and bisection: O(log n) checks, not one a step.
2. *Core.* z3's own core of that suffix, which need not be minimal, is only the start.
3. *Minimality* by deletion: a constraint stays when the rest is satisfiable without it. A model of
   "the rest without c" is a witness for c, and often for more: give c's step the value that its
   term has in the model, and if exactly one other constraint breaks, the model is a witness for
   that one too (recursive model rotation; Belov and Marques-Silva, FMCAD 2011). On the chains of
   assignments that programs are made of, one check so settles hundreds of steps.

Deterministic: the same problem gives the same core. The order in which constraints are given up is
the problem's ``drop_order``, then from the farthest step to the nearest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from afterd.logic.constraint import (
    Answer,
    Kind,
    Problem,
    Satisfiable,
    Undecided,
    Unsatisfiable,
)
from afterd.logic.evaluate import UNKNOWN, Known, Unknown, evaluate, normal, same
from afterd.logic.propagation import contradiction
from afterd.logic.session import Session, Verdict, all_reads
from afterd.logic.terms import distinct_reads
from afterd.model.term import StepId, Term

Readers = Mapping[StepId, Sequence[int]]
_SUFFIX_SHARE = 100
_DELETION_SHARE = 10
"""The part of the problem's resource units that one check may use."""
_PATIENCE = 2
"""Checks without an answer after which a core is left as it is: the next would have none either."""
_GOAL = -1
"""Stands for the goal where an index of a constraint is expected."""


def explain(session: Session) -> Answer:
    """A minimal core of the shortest suffix that makes the goal impossible."""
    verdict, core = contradicts(session, range(len(session.problem.constraints)), session.rlimit)
    if verdict is Verdict.SAT:
        return Satisfiable()
    if verdict is Verdict.UNKNOWN:
        return Undecided(session.reason)
    suffix, core = shortest_suffix(session, core)
    core, minimal = minimise(session, core)
    steps = tuple(session.problem.constraints[i].step for i in sorted(core))
    return Unsatisfiable(steps, suffix, minimal)


def contradicts(session: Session, indices: Sequence[int], units: int) -> tuple[Verdict, set[int]]:
    """Whether these constraints contradict the goal, and a core of them if so."""
    proof = contradiction(session.problem, indices)
    if proof is not None:
        return Verdict.UNSAT, proof
    verdict = session.check(indices, units)
    return verdict, session.core() if verdict is Verdict.UNSAT else set()


def shortest_suffix(session: Session, core: set[int]) -> tuple[int, set[int]]:
    """The smallest suffix that is unsatisfiable, and z3's core of it.

    ``core`` is one of the whole problem: the suffix that holds it is enough. A check without an
    answer counts as satisfiable: the suffix may then be longer than it must, never wrong.
    """
    low, high = 0, 1 + max(core, default=-1)
    width = 16
    while low < high:
        middle = min(low + width, (low + high) // 2)
        verdict, smaller = contradicts(session, range(middle), session.rlimit // _SUFFIX_SHARE)
        if verdict is Verdict.UNSAT:
            core, high = smaller, 1 + max(smaller, default=-1)
        else:
            low, width = middle + 1, 4 * width
    return high, core


def minimise(session: Session, core: set[int]) -> tuple[set[int], bool]:
    """A subset-minimal core; False beside it when the solver gave up on some constraint."""
    readers = _readers(session.problem, core)
    needed: set[int] = set()
    given_up = 0
    for candidate in _drop_order(session.problem, core):
        if candidate in needed or candidate not in core or given_up > _PATIENCE:
            continue
        rest = sorted(core - {candidate})
        verdict, smaller = contradicts(session, rest, session.rlimit // _DELETION_SHARE)
        if verdict is Verdict.UNSAT:
            core = smaller
        elif verdict is Verdict.SAT:
            needed |= {candidate, *rotate(session, core, readers, candidate)}
        else:
            given_up += 1
    return core, given_up == 0


def rotate(session: Session, core: set[int], readers: Readers, dropped: int) -> set[int]:
    """Constraints that the last model, a witness for ``dropped``, shows to be needed as well."""
    problem = session.problem
    model: dict[StepId, Known] = dict(session.values(all_reads(problem, core).values()))
    needed: set[int] = set()
    while problem.constraints[dropped].kind is Kind.DEFINES:
        constraint = problem.constraints[dropped]
        corrected = _value(constraint.term, model)
        if not isinstance(corrected, int):
            break
        model[constraint.step] = corrected
        affected = [i for i in readers.get(constraint.step, ()) if i == _GOAL or i in core]
        broken = _broken(problem, affected, model)
        if broken is None or broken in needed:
            break
        needed.add(broken)
        dropped = broken
    return needed


def _broken(problem: Problem, indices: Sequence[int], model: Mapping[StepId, Known]) -> int | None:
    """The one constraint that fails; None when it is not one, is the goal, or cannot be told."""
    broken = []
    for index in indices:
        holds = _holds(problem, index, model)
        if holds is UNKNOWN or (index == _GOAL and not holds):
            return None
        if not holds:
            broken.append(index)
    return broken[0] if len(broken) == 1 else None


def _holds(problem: Problem, index: int, model: Mapping[StepId, Known]) -> bool | Unknown:
    if index == _GOAL:
        return _truth(_value(problem.goal, model))
    constraint = problem.constraints[index]
    value = _value(constraint.term, model)
    if constraint.kind is Kind.ASSUMES:
        return _truth(value)
    held = normal(model.get(constraint.step, UNKNOWN), constraint.sort)
    return UNKNOWN if UNKNOWN in (value, held) else same(value, held)


def _truth(value: Known) -> bool | Unknown:
    return value if isinstance(value, bool) else UNKNOWN


def _value(term: Term, model: Mapping[StepId, Known]) -> Known:
    return evaluate(term, lambda read: model.get(read.step, UNKNOWN))


def _readers(problem: Problem, core: set[int]) -> Readers:
    """For each step, the constraints of the core that read its value."""
    found: dict[StepId, list[int]] = {}
    for read in distinct_reads(problem.goal):
        found.setdefault(read.step, []).append(_GOAL)
    for index in sorted(core):
        for read in distinct_reads(problem.constraints[index].term):
            found.setdefault(read.step, []).append(index)
    return found


def _drop_order(problem: Problem, core: set[int]) -> list[int]:
    place = {step: i for i, step in enumerate(problem.drop_order)}
    last = len(place)
    return sorted(core, key=lambda i: (place.get(problem.constraints[i].step, last), -i))
