"""Predicates and conditions of a function: its branches, and the short-circuit parts of each.

At -O0 clang makes a branch of every operand of && and ||, and its block names say which operand
belongs to which expression; where names were discarded, each branch is a predicate by itself.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from afterd.model.entity import EntityKind
from afterd.spectra.c.plan import Plan
from afterd.trace.c.ir.ir import NAME, Block, Function

Sum = tuple[tuple[int, int], ...]
"""Counters with their weights (1, or -1 where a count is a difference)."""

_BRANCH = re.compile(rf"^  br i1 (\S+), label %({NAME}), label %({NAME})")
_OPERAND = re.compile(r"(?:land|lor)\.(?:lhs\.(?:true|false)|rhs|end)(?:\d|$)")
_JOIN = re.compile(r"(land|lor)\.end(?:\d|$)")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A predicate or condition: where it is decided, how often evaluated, how often true."""

    kind: EntityKind
    block: int
    evaluated: Sum
    held: Sum


@dataclass(frozen=True, slots=True)
class _Branch:
    block: int
    yes: int
    no: int


def predicates(function: Function, plan: Plan) -> Iterator[Evaluated]:
    """Every predicate, each followed by its conditions."""
    branches = _branches(function)
    for group in _groups(function, branches, plan):
        last = branches[group[-1]]
        yield Evaluated(
            EntityKind.PREDICATE,
            group[0],
            _leaving_count(plan, branches[group[0]]),
            _arriving_count(plan, group, branches, last.yes),
        )
        for block in group:
            yield _condition(function, plan, branches[block])


def _branches(function: Function) -> dict[int, _Branch]:
    numbers = {block.label: at for at, block in enumerate(function.blocks)}
    found: dict[int, _Branch] = {}
    for at, block in enumerate(function.blocks):
        if branch := _BRANCH.match(block.terminator.text):
            yes, no = (numbers[label.strip('"')] for label in branch.groups()[1:])
            if yes != no:
                found[at] = _Branch(at, yes, no)
    return found


def _groups(function: Function, branches: dict[int, _Branch], plan: Plan) -> list[list[int]]:
    """Branches of one expression together, in the order of evaluation."""
    before: dict[int, list[int]] = defaultdict(list)
    for source, target in plan.counted:
        before[target].append(source)
    group_of: dict[int, list[int]] = {}
    for at, block in enumerate(function.blocks):
        if at not in branches:
            continue
        earlier = [n for n in _operands_before(at, function, before) if n in group_of]
        group = group_of[earlier[0]] if earlier and _OPERAND.match(block.label) else []
        group.append(at)
        group_of[at] = group
    return list({id(group): group for group in group_of.values()}.values())


def _operands_before(at: int, function: Function, before: dict[int, list[int]]) -> Iterator[int]:
    """Blocks that lead to an operand, over the blocks of calls and ?: between."""
    seen, waiting = {at}, [at]
    while waiting:
        for source in before[waiting.pop()]:
            if source in seen:
                continue
            seen.add(source)
            yield source
            if _OPERAND.match(function.blocks[source].label):
                waiting.append(source)


def _condition(function: Function, plan: Plan, branch: _Branch) -> Evaluated:
    """One operand. The last one of a value (``while (a && b)``) is decided where the value joins."""
    block = function.blocks[branch.block]
    yes, no = plan.edges[branch.block, branch.yes], plan.edges[branch.block, branch.no]
    joined = _JOIN.match(block.label)
    operand = _operand_of(block, function, plan) if joined else ()
    if joined and operand:
        true = ((yes, 1),) if joined[1] == "land" else (*operand, (no, -1))
        return Evaluated(EntityKind.CONDITION, branch.block, operand, true)
    return Evaluated(EntityKind.CONDITION, branch.block, ((yes, 1), (no, 1)), ((yes, 1),))


def _operand_of(join: Block, function: Function, plan: Plan) -> Sum:
    """How often the last operand came to where its value joins: the only edge that is no branch."""
    labels = {block.label: at for at, block in enumerate(function.blocks)}
    target = labels[join.label]
    arriving = [
        (counter, 1)
        for (source, to), counter in plan.counted.items()
        if to == target and not _BRANCH.match(function.blocks[source].terminator.text)
    ]
    return tuple(arriving) if len(arriving) == 1 else ()


def _leaving_count(plan: Plan, branch: _Branch) -> Sum:
    return (plan.edges[branch.block, branch.yes], 1), (plan.edges[branch.block, branch.no], 1)


def _arriving_count(plan: Plan, group: list[int], branches: dict[int, _Branch], target: int) -> Sum:
    """How often the whole predicate went to its true side."""
    return tuple(
        (plan.edges[block, target], 1)
        for block in group
        if target in (branches[block].yes, branches[block].no)
    )
