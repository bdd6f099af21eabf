"""Cores by evaluation: where everything is known, no solver is needed to see that a goal is false.

Constraints are evaluated in execution order. What a value rests on is noted as narrowly as its
operators allow: the branch of an ITE that was taken, one false conjunct, one zero factor. If the
goal or a path condition comes out false, the steps it rests on are an unsatisfiable core: a proof,
though not a minimal one. z3 is left with what evaluation cannot decide.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from afterd.logic.constraint import Kind, Problem
from afterd.logic.evaluation import UNKNOWN, Evaluator, Known
from afterd.logic.terms import distinct_reads, operands
from afterd.model.term import Apply, Op, Read, SortKind, StepId, Term


def contradiction(problem: Problem, indices: Collection[int]) -> set[int] | None:
    """Constraints among ``indices`` whose values make the goal or one of them false, if any do.

    None means undecided: not everything that matters is known from these constraints alone.
    """
    values: dict[StepId, Known] = {}
    maker: dict[StepId, int] = {}

    def value_of(read: Read) -> Known:
        return values.get(read.step, UNKNOWN)

    evaluator = Evaluator(value_of)
    false, proof = problem.goal, set[int]()
    for index in sorted(indices, reverse=True):  # execution order
        constraint = problem.constraints[index]
        value = evaluator.value(constraint.term)
        if constraint.kind is Kind.DEFINES:
            values[constraint.step], maker[constraint.step] = value, index
        elif value is False:
            false, proof = constraint.term, {index}
            break
    if evaluator.value(false) is not False:
        return None
    support = Support(evaluator, problem)
    pending = [false]
    while pending:
        for read in support.reads(pending.pop()):
            index = maker[read.step]
            if index not in proof:
                proof.add(index)
                pending.append(problem.constraints[index].term)
    return proof


class Support:
    """What the known value of a term rests on; one choice where several would do.

    The problem's drop order chooses: a value is said to rest on what that would rather keep.
    """

    def __init__(self, evaluator: Evaluator, problem: Problem) -> None:
        self._evaluator = evaluator
        self._place = {step: place for place, step in enumerate(problem.drop_order)}

    def reads(self, term: Term) -> list[Read]:
        """Reads that, as they are, give ``term`` its value, whatever its other reads are."""
        found: dict[StepId, Read] = {}
        stack, seen = [term], {id(term)}
        while stack:
            top = stack.pop()
            if isinstance(top, Read):
                found.setdefault(top.step, top)
            for child in self._decisive(top):
                if id(child) not in seen:
                    seen.add(id(child))
                    stack.append(child)
        return list(found.values())

    def _decisive(self, term: Term) -> Sequence[Term]:
        if not isinstance(term, Apply):
            return operands(term)
        if term.op is Op.ITE:
            condition = self._evaluator.value(term.args[0])
            if condition is UNKNOWN:  # both sides have the same value
                return term.args[1:]
            return term.args[0], term.args[1 if condition else 2]
        absorbing = _absorbing(term)
        alone = [arg for arg in term.args if self._has(arg, absorbing)]
        return [max(alone, key=self._preference)] if alone else term.args

    def _has(self, term: Term, value: Known) -> bool:
        known = self._evaluator.value(term)
        return value is not UNKNOWN and known is not UNKNOWN and known == value

    def _preference(self, term: Term) -> tuple[int, int]:
        """Later in the drop order is better, then nearer to the failure; no step at all is best."""
        last = len(self._place)
        places = [(self._place.get(read.step, last), read.step) for read in distinct_reads(term)]
        return min(places, default=(last + 1, 0))


def _absorbing(term: Apply) -> Known:
    """The operand value that decides the result alone."""
    if term.op in {Op.AND, Op.OR}:
        return term.op is Op.OR
    if term.op in {Op.MUL, Op.BITAND} and term.sort.kind in {SortKind.BITVEC, SortKind.INT}:
        return 0
    return UNKNOWN
