"""Cores by evaluation: where everything is known, no solver is needed to see that a goal is false.

Constraints are evaluated in execution order. What a value rests on is noted as narrowly as its
operators allow: the branch of an ITE that was taken, one false conjunct, one zero factor. If the
goal or a path condition comes out false, the steps it rests on are an unsatisfiable core: a proof,
though not a minimal one. z3 is left with what evaluation cannot decide.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from afterd.logic.constraint import Kind, Problem
from afterd.logic.evaluate import UNKNOWN, Evaluator, Known
from afterd.model.term import Apply, Concrete, Op, Read, SortKind, StepId, Term


def contradiction(problem: Problem, indices: Collection[int]) -> set[int] | None:
    """Constraints among ``indices`` whose values make the goal or one of them false, if any do.

    None means undecided: not everything that matters is known from these constraints alone.
    """
    values: dict[StepId, Known] = {}
    maker: dict[StepId, int] = {}

    def value_of(read: Read) -> Known:
        return values.get(read.step, UNKNOWN)

    evaluator = Evaluator(value_of)
    for index in sorted(indices, reverse=True):  # execution order
        constraint = problem.constraints[index]
        value = evaluator.value(constraint.term)
        if constraint.kind is Kind.DEFINES:
            values[constraint.step], maker[constraint.step] = value, index
        elif value is False:
            return _proof(problem, constraint.term, {index}, evaluator, maker)
    if evaluator.value(problem.goal) is False:
        return _proof(problem, problem.goal, set(), evaluator, maker)
    return None


def _proof(
    problem: Problem,
    false: Term,
    proof: set[int],
    evaluator: Evaluator,
    maker: dict[StepId, int],
) -> set[int]:
    """The constraints that the falsity of ``false`` rests on."""
    pending = [false]
    while pending:
        for read in decisive_reads(pending.pop(), evaluator):
            index = maker[read.step]
            if index not in proof:
                proof.add(index)
                pending.append(problem.constraints[index].term)
    return proof


def decisive_reads(term: Term, evaluator: Evaluator) -> list[Read]:
    """Reads that, as they are, give ``term`` its (known) value, whatever its other reads are."""
    found: dict[StepId, Read] = {}
    stack, seen = [term], {id(term)}
    while stack:
        top = stack.pop()
        if isinstance(top, Read):
            found.setdefault(top.step, top)
        for child in _decisive(top, evaluator):
            if id(child) not in seen:
                seen.add(id(child))
                stack.append(child)
    return list(found.values())


def _decisive(term: Term, evaluator: Evaluator) -> Sequence[Term]:
    if isinstance(term, Concrete):
        return term.reads
    if not isinstance(term, Apply):
        return ()
    if term.op is Op.ITE:
        return _decisive_branch(term, evaluator)
    absorbing = _absorbing(term)
    for arg in term.args if absorbing is not UNKNOWN else ():
        value = evaluator.value(arg)
        if value is not UNKNOWN and value == absorbing:
            return (arg,)
    return term.args


def _decisive_branch(term: Apply, evaluator: Evaluator) -> Sequence[Term]:
    condition = evaluator.value(term.args[0])
    if condition is UNKNOWN:  # both sides have the same value
        return term.args[1:]
    return term.args[0], term.args[1 if condition else 2]


def _absorbing(term: Apply) -> Known:
    """The operand that decides the result alone."""
    if term.op in {Op.AND, Op.OR}:
        return term.op is Op.OR
    if term.op in {Op.MUL, Op.BITAND} and term.sort.kind in {SortKind.BITVEC, SortKind.INT}:
        return 0
    return UNKNOWN
