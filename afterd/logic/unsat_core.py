"""A minimal unsatisfiable core of the shortest failing suffix (AFTER, section II-A).

Runs in the solver's child process, on one incremental session.

0. Where evaluation alone shows a contradiction (``propagation``), z3 is not asked.
1. *Suffix.* "The constraints of the last n steps contradict the goal" is monotone in n, so the
   smallest n is found by galloping and bisection: O(log n) checks, not one a step. None where the run's own
   values show that the farthest constraint of the core is needed beside all that are nearer.
2. *Core.* z3's own core of that suffix, which need not be minimal, is only the start.
3. *Minimality*: what the run's own values show to be needed (``witnesses``) needs no check. Of the rest
   by deletion: a constraint stays when the others are satisfiable without it. A model of
   "the rest without c" is a witness for c, and often for more: give c's step the value that its
   term has in the model, and if exactly one other constraint breaks, the model is a witness for
   that one too (recursive model rotation; Belov and Marques-Silva, FMCAD 2011). On the chains of
   assignments that programs are made of, one check so settles hundreds of steps. What is read by
   terms that are not followed (``Concrete``) needs no model at all: see ``Freed``.

Where z3 has left some checks unanswered, those like them are not made: a core is left as it is.

Deterministic: the same problem gives the same core. The order in which constraints are given up is
the problem's ``drop_order``, then from the farthest step to the nearest.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from afterd.limits import LOGIC
from afterd.logic.constraint import (
    Answer,
    Kind,
    Problem,
    Satisfiable,
    Undecided,
    Unsatisfiable,
)
from afterd.logic.evaluation import UNKNOWN, Known, Unknown, evaluate, normal, same_value
from afterd.logic.propagation import contradiction
from afterd.logic.session import ModelValues, Session, Verdict
from afterd.logic.terms import distinct_reads
from afterd.logic.witnesses import GOAL, Readers, Witnesses, constraint_readers, run_values
from afterd.model.term import Concrete, Read, StepId, Term
from afterd.weights import SOLVER_SHARES


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
    session.count_evaluated(len(indices))
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
    if high - 1 in _needed_in_the_run(session, range(high)):
        return high, core
    width, given_up = 16, 0
    while low < high and given_up <= LOGIC.unanswered:
        middle = min(low + width, (low + high) // 2)
        verdict, smaller = contradicts(
            session, range(middle), session.rlimit // SOLVER_SHARES.suffix
        )
        if verdict is Verdict.UNSAT:
            core, high = smaller, 1 + max(smaller, default=-1)
        else:
            given_up += verdict is Verdict.UNKNOWN
            low, width = middle + 1, 4 * width
    return high, core


def minimise(session: Session, core: set[int]) -> tuple[set[int], bool]:
    """A subset-minimal core; False beside it when the solver gave up on some constraint."""
    needed = _needed_in_the_run(session, core)
    readers = constraint_readers(session.problem, core)
    freed = Freed(session.problem, core, readers)
    given_up = 0
    units = session.rlimit // SOLVER_SHARES.deletion
    for seed in freed.seeds():
        if seed in needed or given_up > LOGIC.unanswered:
            continue
        verdict, _ = contradicts(session, sorted(core - {seed}), units)
        needed |= {seed} if verdict is Verdict.SAT else set()
        given_up += verdict is Verdict.UNKNOWN
    needed |= freed.above(needed)
    for candidate in _drop_order(session.problem, core):
        if candidate in needed or candidate not in core or given_up > LOGIC.unanswered:
            continue
        verdict, smaller = contradicts(session, sorted(core - {candidate}), units)
        if verdict is Verdict.UNSAT:
            core = smaller
        elif verdict is Verdict.SAT:
            found = {candidate, *rotate(session, core, readers, candidate)}
            needed |= found | freed.above(found, needed)
        else:
            given_up += 1
    return core, given_up == 0


def _needed_in_the_run(session: Session, indices: Collection[int]) -> set[int]:
    """What the run's values show to be needed for a contradiction; nothing where the run is not known to be one."""
    session.count_evaluated(len(indices))
    values = run_values(session.problem, indices)
    if values is None:
        return set()
    witnesses = Witnesses(session.problem, indices, values)
    needed = witnesses.needed()
    session.count_evaluated(witnesses.evaluated)
    return needed


def rotate(session: Session, core: set[int], readers: Readers, dropped: int) -> set[int]:
    """Constraints that the last model, a witness for ``dropped``, shows to be needed as well."""
    problem = session.problem
    model = session.model()
    needed: set[int] = set()
    while problem.constraints[dropped].kind is Kind.DEFINES:
        constraint = problem.constraints[dropped]
        corrected = _value(constraint.term, model)
        if not isinstance(corrected, int):
            break
        model.put(constraint.step, corrected)
        affected = [i for i in readers.get(constraint.step, ()) if i == GOAL or i in core]
        broken = _broken_constraint(problem, affected, model)
        if broken is None or broken in needed:
            break
        needed.add(broken)
        dropped = broken
    return needed


class Freed:
    """Constraints that are needed because what reads them is, told without a model.

    Of a term that is not followed nothing is said once one of its reads is not as observed. So where
    only such terms read a step, by copies of it perhaps, a witness for one of them becomes one for
    the step's constraint: give the step, and its copies, any other value.
    """

    def __init__(self, problem: Problem, core: set[int], readers: Readers) -> None:
        self._constraints = problem.constraints
        self._readers = readers
        self._makers = {
            problem.constraints[index].step: index
            for index in core
            if problem.constraints[index].kind is Kind.DEFINES
        }

    def seeds(self) -> list[int]:
        """Constraints that none above can be told from before they are known, nearest first."""
        last = [
            index
            for step, index in self._makers.items()
            if self._unfollowed(index) and not self._free(step)
        ]
        return sorted(last)[: LOGIC.seeds]

    def above(self, needed: Collection[int], known: Collection[int] = ()) -> set[int]:
        """Constraints that are needed because ``needed`` ones are, without those already ``known``."""
        found: set[int] = set()
        pending = sorted(needed)
        while pending:
            index = pending.pop()
            if not self._unfollowed(index):
                continue
            for read in distinct_reads(self._constraints[index].term):
                maker = self._makers.get(read.step)
                if maker is None or maker in found or maker in needed or maker in known:
                    continue
                if self._free(read.step):
                    found.add(maker)
                    pending.append(maker)
        return found

    def _unfollowed(self, index: int) -> bool:
        constraint = self._constraints[index]
        return constraint.kind is Kind.DEFINES and isinstance(constraint.term, Concrete | Read)

    def _free(self, step: StepId) -> bool:
        """Whether only terms that are not followed read the step, or read copies of it."""
        pending, copies = [step], {step}
        while pending:
            for index in self._readers.get(pending.pop(), ()):
                if index == GOAL or not self._unfollowed(index):
                    return False
                reader = self._constraints[index]
                if isinstance(reader.term, Read) and reader.step not in copies:
                    copies.add(reader.step)
                    pending.append(reader.step)
        return True


def _broken_constraint(problem: Problem, indices: Sequence[int], model: ModelValues) -> int | None:
    """The one constraint that fails; None when it is not one, is the goal, or cannot be told."""
    broken = []
    for index in indices:
        holds = _constraint_holds(problem, index, model)
        if holds is UNKNOWN or (index == GOAL and not holds):
            return None
        if not holds:
            broken.append(index)
    return broken[0] if len(broken) == 1 else None


def _constraint_holds(problem: Problem, index: int, model: ModelValues) -> bool | Unknown:
    if index == GOAL:
        return _truth(_value(problem.goal, model))
    constraint = problem.constraints[index]
    value = _value(constraint.term, model)
    if constraint.kind is Kind.ASSUMES:
        return _truth(value)
    held = normal(model.of(Read(constraint.step, constraint.sort)), constraint.sort)
    return UNKNOWN if UNKNOWN in (value, held) else same_value(value, held)


def _truth(value: Known) -> bool | Unknown:
    return value if isinstance(value, bool) else UNKNOWN


def _value(term: Term, model: ModelValues) -> Known:
    return evaluate(term, model.of)


def _drop_order(problem: Problem, core: set[int]) -> list[int]:
    place = {step: i for i, step in enumerate(problem.drop_order)}
    last = len(place)
    return sorted(core, key=lambda i: (place.get(problem.constraints[i].step, last), -i))
