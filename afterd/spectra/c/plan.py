"""Which counters a function has, and which sums of them are executions of its blocks and edges.

One counter an edge, one for calls of the function, one a return: a block was executed as often as the
edges that lead there were taken. Where control arrives on ways that are not counted (unwinding, a
computed goto) the block has a counter of its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from afterd.trace.c.ir.ir import NAME, Block, Function

_TARGET = re.compile(rf"label %({NAME})")
_NORMAL = re.compile(rf"\bto label %({NAME})")
_UNCOUNTED = frozenset(["indirectbr", "callbr", "catchswitch", "catchret", "cleanupret"])
_LEAVES = frozenset(["ret", "resume"])

Edge = tuple[int, int]
"""Source and target, as numbers of blocks."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Counters of one function, numbered from 0 (its calls).

    ``counted`` are the edges with a counter, ``own`` the blocks with one, ``returns`` those that leave
    the function. ``edges`` are all whose count is known, each with the counter that tells it.
    """

    counted: dict[Edge, int]
    own: dict[int, int]
    returns: dict[int, int]
    edges: dict[Edge, int]
    size: int

    def executions(self) -> dict[int, tuple[int, ...]]:
        """Per block the counters whose sum says how often it was begun; unreachable ones have none."""
        into: dict[int, list[int]] = defaultdict(list, {0: [0]})
        for (_, target), counter in self.counted.items():
            into[target].append(counter)
        arriving = {block: tuple(counters) for block, counters in into.items()}
        return {**arriving, **{block: (counter,) for block, counter in self.own.items()}}


def planned_counters(function: Function) -> Plan:
    """The counters of a function, always the same for the same text."""
    numbers = {block.label: at for at, block in enumerate(function.blocks)}
    counted: dict[Edge, int] = {}
    uncounted: dict[Edge, None] = {}
    for source, block in enumerate(function.blocks):
        sure, unsure = targets(block)
        for label in sure:
            counted.setdefault((source, numbers[label]), len(counted) + 1)
        uncounted |= {(source, numbers[label]): None for label in unsure}
    at = len(counted) + 1
    own = {block: at + n for n, block in enumerate(sorted({target for _, target in uncounted}))}
    at += len(own)
    leaving = [n for n, block in enumerate(function.blocks) if block.terminator.opcode in _LEAVES]
    returns = {block: at + n for n, block in enumerate(leaving)}
    sources: dict[int, set[int]] = defaultdict(set)
    for source, target in (*counted, *uncounted):
        sources[target].add(source)
    alone = {edge: own[edge[1]] for edge in uncounted if len(sources[edge[1]]) == 1 and edge[1]}
    return Plan(counted, own, returns, {**alone, **counted}, at + len(returns))


def targets(block: Block) -> tuple[list[str], list[str]]:
    """The labels that a block's terminator may go to: on counted ways, and on others."""
    terminator = block.terminator
    if terminator.opcode == "invoke":
        normal = _NORMAL.findall(terminator.text)
        others = [label for label in _TARGET.findall(terminator.text) if label not in normal]
        return _names(normal), _names(others)
    found = _names(_TARGET.findall(terminator.text))
    return ([], found) if terminator.opcode in _UNCOUNTED else (found, [])


def _names(labels: list[str]) -> list[str]:
    return list(dict.fromkeys(label.strip('"') for label in labels))
