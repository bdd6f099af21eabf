"""Made-up structured programs (sequences, branches, loops) as flow graphs, and runs of them with a known fault."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from afterd.localization.spectrum import Entity, EntityKind, Run, Spectrum, spectrum_of
from afterd.model.location import Location

RUNS = 120
MOST_BLOCKS = 20_000  # of one run: a loop within loops ends then


@dataclass(frozen=True, slots=True)
class Program:
    """Blocks by number with their successors; a branch's first side is taken with a chance that each run
    has of its own. ``loops`` are the blocks that go back.
    """

    successors: tuple[tuple[int, ...], ...]
    depth: tuple[int, ...]
    """Per block, in how many branches and loops it is."""


@dataclass(slots=True)
class Builder:
    """A program as it grows; the last block has no successor."""

    chance: np.random.Generator
    successors: list[list[int]] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)

    def block(self, depth: int) -> int:
        self.successors.append([])
        self.depth.append(depth)
        return len(self.successors) - 1

    def body(self, start: int, size: int, depth: int, loops: float) -> int:
        """Statements behind a block, about so many blocks; the last of them."""
        at = start
        while size > 0:
            inner = int(self.chance.integers(1, max(2, size // 2 + 1)))
            kind = self.chance.uniform()
            if size < 3 or kind < 0.2:
                following = self.block(depth)
                self.successors[at].append(following)
                at, size = following, size - 1
                continue
            head, inside = self.block(depth), self.block(depth + 1)
            after = self.block(depth)
            self.successors[at].append(head)
            self.successors[head] += [inside, after]
            end = self.body(inside, inner, depth + 1, loops)
            self.successors[end].append(head if kind < 0.2 + 0.8 * loops else after)
            at, size = after, size - inner - 3
        return at


def program(seed: int, size: int, loops: float) -> Program:
    """One of about ``size`` blocks; a share of ``loops`` of its branches are loops."""
    builder = Builder(np.random.default_rng(seed))
    builder.body(builder.block(0), size, 0, loops)
    return Program(tuple(map(tuple, builder.successors)), tuple(builder.depth))


def runs(made: Program, fault: int, seed: int, fails: float) -> Spectrum | None:
    """Runs of which each execution of the faulty block makes the run fail with a chance of ``fails``; None
    where none or all fail.
    """
    chance = np.random.default_rng(seed)
    edges = [(a, b) for a, following in enumerate(made.successors) for b in following]
    number = {edge: at for at, edge in enumerate(edges)}
    count = len(made.successors)
    executed = np.zeros((RUNS, count + len(edges)), np.int64)
    failed = np.zeros(RUNS, np.bool_)
    for run in range(RUNS):
        taken = chance.beta(1.0, 1.0, count)
        at = 0
        for _ in range(MOST_BLOCKS):
            executed[run, at] += 1
            following = made.successors[at]
            if not following:
                break
            side = following[0] if chance.uniform() < min(taken[at], 0.9) else following[-1]
            executed[run, count + number[at, side]] += 1
            at = side
        failed[run] = chance.uniform() > (1 - fails) ** executed[run, fault]
    if not failed.any() or failed.all():
        return None
    places = [Location("made.c", at + 1, function="f") for at in range(count)]
    entities = [
        *(Entity(EntityKind.BLOCK, place) for place in places),
        *(Entity(EntityKind.EDGE, places[a], source=a, target=b) for a, b in edges),
        *(Entity(EntityKind.STATEMENT, place, block=at) for at, place in enumerate(places)),
    ]
    counts = np.hstack([executed, executed[:, :count]])
    marked = [Run(f"t{at}", bool(red)) for at, red in enumerate(failed)]
    return spectrum_of(marked, entities, sparse.csr_array(counts))
