"""A second opinion on a core: is "these steps make the goal impossible" false on some values?

A core speaks of *all* values of what it reads but does not define. Here the core is evaluated, with
``evaluate`` and without any solver, on the values of the run and on a fixed set of others; one
valuation that satisfies every step and the goal refutes the core. It cannot prove one. What it
catches is a mistake in ``translate`` or in z3 (reliability.md, row 39).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from afterd.logic.constraint import Constraint, Kind, Problem
from afterd.logic.evaluate import UNKNOWN, Evaluator, Known, observed
from afterd.logic.terms import distinct_reads
from afterd.model.term import Read, Sort, SortKind, StepId

_SAMPLES = 24


def refuted(problem: Problem, core: Sequence[StepId]) -> bool:
    """Whether the core's steps and the goal can all hold, shown by example."""
    wanted = set(core)
    steps = [c for c in reversed(problem.constraints) if c.step in wanted]
    return any(_all_hold(problem, steps, sample) for sample in _valuations(problem, steps))


def _valuations(problem: Problem, steps: Sequence[Constraint]) -> Iterator[dict[StepId, Known]]:
    """Values of what the core does not define: as observed, then all alike, then mixed."""
    defined = {c.step for c in steps if c.kind is Kind.DEFINES}
    terms = [*(c.term for c in steps), problem.goal]
    free = {r.step: r for term in terms for r in distinct_reads(term) if r.step not in defined}
    inputs = [free[step] for step in sorted(free)]
    yield {read.step: observed(read) for read in inputs}
    if not inputs:
        return
    for sample in range(_SAMPLES):
        yield {read.step: _sample(read, sample, place) for place, read in enumerate(inputs)}


def _all_hold(problem: Problem, steps: Sequence[Constraint], free: dict[StepId, Known]) -> bool:
    values = dict(free)

    def value_of(read: Read) -> Known:
        return values.get(read.step, UNKNOWN)

    evaluator = Evaluator(value_of)  # in execution order: a read's value is there before its use
    for constraint in steps:
        value = evaluator.value(constraint.term)
        if constraint.kind is Kind.DEFINES:
            values[constraint.step] = value
        elif value is not True:
            return False
    return evaluator.value(problem.goal) is True


def _sample(read: Read, sample: int, place: int) -> Known:
    """The first samples give all reads one value, the later ones different values."""
    mixed = sample >= _SAMPLES // 2
    index = (sample * 7 + place * (1 + sample % 5)) if mixed else sample
    return _candidate(read, index)


def _candidate(read: Read, index: int) -> Known:
    """Small numbers, the ends of the range, and neighbours of what was observed."""
    then = observed(read)
    match read.sort.kind:
        case SortKind.BOOL:
            return bool(index % 2)
        case SortKind.BITVEC | SortKind.INT:
            numbers = [0, 1, 2, -1, -2, 7, *_extremes(read.sort)]
            if isinstance(then, int):
                numbers += [then, then + 1, then - 1, -then]
            return _wrapped(numbers[index % len(numbers)], read.sort)
        case SortKind.FLOAT:
            return [0.0, 1.0, -1.0, 0.5, 1e300, -0.0][index % 6]
        case SortKind.STRING:
            return ["", "a", "b", "aa", "ab", " "][index % 6]
    return then


def _extremes(sort: Sort) -> list[int]:
    half = 1 << (sort.width - 1 if sort.kind is SortKind.BITVEC else 40)
    return [half, half - 1, -half]


def _wrapped(number: int, sort: Sort) -> int:
    return number & ((1 << sort.width) - 1) if sort.kind is SortKind.BITVEC else number
