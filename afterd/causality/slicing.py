"""The dynamic backward slice of a predicate, collected lazily, nearest steps first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from afterd.model.term import Read, StepId, reads
from afterd.model.trace import Execution, Predicate, Step, StepKind


@dataclass(frozen=True, slots=True)
class Slice:
    """``steps`` in backward order; ``cut`` the reads whose definitions were not followed."""

    steps: tuple[Step, ...]
    cut: tuple[Read, ...]


def backward_slice(execution: Execution, predicate: Predicate, most: int) -> Slice:
    """The steps that ``predicate.condition`` depends on by data, at most ``most`` of them.

    The branch on which each of them depends stands among them as a path condition; what it read
    itself is not followed: that is the business of critical predicates (AFTER, section II-C).
    """
    waiting: list[StepId] = []
    wanted: dict[StepId, Read] = {}
    conditions: set[StepId] = set()

    def follow(read: Read) -> None:
        if read.step not in wanted:
            wanted[read.step] = read
            heapq.heappush(waiting, -read.step)

    for read in reads(predicate.condition):
        follow(read)
    found: list[Step] = []
    while waiting and len(found) < most:
        step = execution.step(-heapq.heappop(waiting))
        found.append(step)
        for read in reads(step.term):
            follow(read)
        if step.control is not None and step.control != predicate.step:
            conditions.add(step.control)
    cut = tuple(wanted[-step] for step in waiting)
    conditions -= wanted.keys()
    return Slice(tuple(_merged(found, execution, conditions)), cut)


def _merged(found: list[Step], execution: Execution, conditions: set[StepId]) -> list[Step]:
    """The slice with its path conditions, nearest first."""
    oldest = min((step.id for step in found), default=0)
    branches = [execution.step(branch) for branch in conditions if branch > oldest]
    branches = [branch for branch in branches if branch.kind is StepKind.BRANCH]
    return sorted([*found, *branches], key=lambda step: -step.id)
