"""Random small problems: straight-line programs with a goal that is false in their run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from afterd.logic.constraint import Constraint, Kind, Problem
from afterd.logic.evaluation import Known, evaluate
from afterd.model.term import BOOL, INT, Apply, Concrete, Const, Op, Read, Sort, Term, Value, bitvec

BYTE = bitvec(8)
_ARITHMETIC = (Op.ADD, Op.SUB, Op.MUL, Op.ADD, Op.SUB)
_BITWISE = (Op.BITAND, Op.BITOR, Op.BITXOR)
_COMPARISONS = (Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE)


def number(value: int, sort: Sort = BYTE) -> Const:
    """A literal."""
    return Const(value, sort)


def random_problem(
    seed: int, steps: int = 8, sort: Sort = BYTE, unfollowed: float = 0.0
) -> Problem:
    """A program of ``steps`` steps, some of them path conditions, whose goal failed.

    ``unfollowed`` of the others are calls that the theory does not follow, or copies.
    """
    chance = random.Random(seed)
    values: dict[int, Value] = {}
    constraints: list[Constraint] = []
    for step in range(steps):
        if step > 2 and chance.random() < 0.25:
            condition = _condition(chance, values, sort)
            if evaluate(condition) is False:
                condition = Apply(Op.NOT, (condition,), BOOL)
            constraints.append(Constraint(step, Kind.ASSUMES, condition))
            continue
        if step > 1 and unfollowed and chance.random() < unfollowed:
            term = _unfollowed(chance, values, sort)
        elif step > 1:
            term = _expression(chance, values, sort)
        else:
            term = number(chance.randrange(8), sort)
        values[step] = _value(evaluate(term))
        constraints.append(Constraint(step, Kind.DEFINES, term))
    goal = _condition(chance, {max(values): values[max(values)], **values}, sort)
    if evaluate(goal) is True:
        goal = Apply(Op.NOT, (goal,), BOOL)
    return Problem(tuple(reversed(constraints)), goal)


def chain(
    length: int, step: Callable[[Read, Read], Term], sort: Sort = BYTE, start: int = 3, end: int = 0
) -> Problem:
    """v0 = start, v_i = step(v_{i-1}, v_{i-7}), goal: the last equals ``end``."""
    values: list[Value] = []
    constraints: list[Constraint] = []
    for i in range(length):
        previous = [Read(max(0, j), sort, "", values[max(0, j)]) for j in (i - 1, i - 7) if i]
        term = step(*previous) if i else number(start, sort)
        value = evaluate(term)
        values.append(value if isinstance(value, int) else None)  # None: too long to compute
        constraints.append(Constraint(i, Kind.DEFINES, term))
    goal = Apply(Op.EQ, (Read(length - 1, sort, "", values[-1]), number(end, sort)), BOOL)
    return Problem(tuple(reversed(constraints)), goal)


def of_steps(problem: Problem, steps: Iterable[int]) -> Problem:
    """The problem with only the constraints of these steps."""
    wanted = set(steps)
    return Problem(tuple(c for c in problem.constraints if c.step in wanted), problem.goal)


def _value(known: Known) -> Value:
    assert isinstance(known, (bool, int))
    return known


def _read(chance: random.Random, values: dict[int, Value], sort: Sort) -> Read:
    step = chance.choice(sorted(values)[-4:])
    return Read(step, sort, "", values[step])


def _operand(chance: random.Random, values: dict[int, Value], sort: Sort) -> Term:
    if chance.random() < 0.3:
        return number(chance.randrange(16), sort)
    return _read(chance, values, sort)


def _unfollowed(chance: random.Random, values: dict[int, Value], sort: Sort) -> Term:
    read = _read(chance, values, sort)
    if chance.random() < 0.4:
        return read
    reads = (read, _read(chance, values, sort))
    return Concrete(chance.randrange(8), sort, "a call", reads)


def _expression(chance: random.Random, values: dict[int, Value], sort: Sort) -> Term:
    first, second = _read(chance, values, sort), _operand(chance, values, sort)
    kind = chance.random()
    if kind < 0.2:
        return Apply(Op.ITE, (_condition(chance, values, sort), first, second), sort)
    ops = _BITWISE if kind < 0.35 and sort != INT else _ARITHMETIC
    return Apply(chance.choice(ops), (first, second), sort)


def _condition(chance: random.Random, values: dict[int, Value], sort: Sort) -> Term:
    sides = (_read(chance, values, sort), _operand(chance, values, sort))
    return Apply(chance.choice(_COMPARISONS), sides, BOOL)
