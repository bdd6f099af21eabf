"""A second opinion on a core: is "these steps make the goal impossible" false on some values?

A core speaks of *all* values of what it reads but does not define. Here the core is evaluated, with
``evaluate`` and without any solver, on the values of the run and on a fixed set of others; one
valuation that satisfies every step and the goal refutes the core. It cannot prove one. What it
catches is a mistake in ``translate`` or in z3 (reliability.md, row 39).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from afterd.limits import LOGIC
from afterd.logic.constraint import Constraint, Kind, Problem
from afterd.logic.evaluation import UNKNOWN, Evaluator, Known, observed_value
from afterd.logic.terms import bottom_up, distinct_reads
from afterd.model.term import Read, Sort, SortKind, StepId, Term

Valuation = dict[StepId, Known]


def refuted(problem: Problem, core: Sequence[StepId]) -> bool:
    """Whether the core's steps and the goal can all hold, shown by example."""
    wanted = set(core)
    steps = [c for c in reversed(problem.constraints) if c.step in wanted]
    inputs = _inputs(problem, steps)
    samples = islice(_valuations(inputs), 1 + LOGIC.evaluated // (1 + len(steps)))
    seen: set[int] = set()  # each sample evaluates the same terms: in which order is found once
    orders = [tuple(bottom_up(term, seen)) for term in (*(c.term for c in steps), problem.goal)]
    return any(_all_hold(problem, steps, orders, sample) for sample in samples)


def _inputs(problem: Problem, steps: Sequence[Constraint]) -> list[Read]:
    """What the core reads and does not define."""
    defined = {c.step for c in steps if c.kind is Kind.DEFINES}
    terms = [*(c.term for c in steps), problem.goal]
    free = {r.step: r for term in terms for r in distinct_reads(term) if r.step not in defined}
    return [free[step] for step in sorted(free)]


def _all_hold(
    problem: Problem,
    steps: Sequence[Constraint],
    orders: Sequence[Sequence[Term]],
    free: Valuation,
) -> bool:
    values = dict(free)

    def value_of(read: Read) -> Known:
        return values.get(read.step, UNKNOWN)

    evaluator = Evaluator(value_of)  # in execution order: a read's value is there before its use
    for constraint, order in zip(steps, orders, strict=False):
        value = evaluator.value(constraint.term, order)
        if constraint.kind is Kind.DEFINES:
            values[constraint.step] = value
        elif value is not True:
            return False
    return evaluator.value(problem.goal, orders[-1]) is True


def _valuations(inputs: Sequence[Read]) -> Iterator[Valuation]:
    """The run's own values; one input at a time moved away from them; all alike; all mixed."""
    then = {read.step: observed_value(read) for read in inputs}
    yield then
    tables = [_candidates(read) for read in inputs]
    rounds = max(map(len, tables), default=0)
    for index in range(LOGIC.mixed if inputs else 0):
        yield _row(inputs, tables, index, 0)
        yield _row(inputs, tables, 7 * index, 1 + index % 5)
    for index in range(rounds):
        for read, table in zip(inputs, tables, strict=True):
            if index < len(table):
                yield {**then, read.step: table[index]}


def _row(
    inputs: Sequence[Read], tables: Sequence[Sequence[Known]], first: int, stride: int
) -> Valuation:
    """One value for each input; ``stride`` 0 takes the same place of every table."""
    return {
        read.step: table[(first + place * stride) % len(table)]
        for place, (read, table) in enumerate(zip(inputs, tables, strict=True))
    }


def _candidates(read: Read) -> Sequence[Known]:
    """Small numbers, the ends of the range, neighbours of what was observed, every single bit."""
    then = observed_value(read)
    match read.sort.kind:
        case SortKind.BOOL:
            return [False, True]
        case SortKind.BITVEC | SortKind.INT:
            return list(dict.fromkeys(_numbers(read.sort, then if isinstance(then, int) else 0)))
        case SortKind.FLOAT:
            return [0.0, 1.0, -1.0, 0.5, 1e300, -0.0]
        case SortKind.STRING:
            return ["", "a", "b", "aa", "ab", " "]
    return [then]


def _numbers(sort: Sort, then: int) -> Iterator[int]:
    if sort.kind is SortKind.INT:
        far = (1 << 40, -(1 << 40), 1 << 31, 1 << 63)
        yield from chain(range(-3, 17), far, range(then - 9, then + 10), [-then, 2 * then])
        return
    mask = (1 << sort.width) - 1
    half = 1 << (sort.width - 1)
    near = chain(range(-3, 17), [half, half - 1], range(then - 9, then + 10), [-then, 2 * then])
    bits = (then ^ 1 << bit for bit in range(sort.width))
    yield from (number & mask for number in chain(near, bits))
    if sort.width <= 8:
        yield from range(mask + 1)
