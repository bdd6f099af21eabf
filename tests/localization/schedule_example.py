"""Figure 1 of the BlockRank paper: version 2 of ``schedule``, three passed, three failed tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from afterd.localization.spectrum import Entity, EntityKind, Run, Spectrum, spectrum_of
from afterd.model.location import Location

BLOCKS = [  # executions of b1 to b4
    (22, 17, 22, 25, 29, 25),
    (3, 5, 2, 7, 11, 10),
    (1, 2, 1, 5, 8, 2),
    (22, 17, 22, 25, 27, 21),
]
EDGES = [  # (source, target, executions) of e1 to e5
    (0, 3, (19, 12, 20, 18, 18, 15)),
    (0, 1, (3, 5, 2, 7, 11, 10)),
    (1, 3, (2, 3, 1, 2, 1, 4)),
    (1, 2, (1, 2, 1, 5, 8, 2)),
    (2, 3, (1, 2, 1, 5, 8, 2)),
]
PREDICATES = [  # (block, line, true, false) of p1 and p2
    (0, 1, (3, 5, 2, 7, 11, 10), (19, 12, 20, 18, 18, 15)),
    (1, 5, (1, 2, 1, 5, 8, 2), (2, 3, 1, 2, 1, 4)),
]
RUNS = [
    *(Run(f"t{i}", failed=False) for i in (1, 2, 3)),
    *(Run(f"t'{i}", failed=True) for i in (1, 2, 3)),
]
FIRST_LINES = (1, 2, 6, 9)
BLOCK_OF_STATEMENT = (0, 1, 1, 1, 1, 2, 2, 2, 3)  # of s1 to s9


def schedule(*, statements: bool = False) -> Spectrum:
    """Blocks, edges, predicates and conditions in this order; on request s1 to s9 after them."""
    entities, executed, held = _blocks_and_edges()
    for kind in (EntityKind.PREDICATE, EntityKind.CONDITION):
        for block, line, true, false in PREDICATES:
            entities.append(Entity(kind, Location("schedule.c", line), block=block))
            executed.append(np.add(true, false).tolist())
            held.append(true)
    if statements:
        for line, block in enumerate(BLOCK_OF_STATEMENT, start=1):
            entities.append(Entity(EntityKind.STATEMENT, Location("schedule.c", line), block=block))
            executed.append(BLOCKS[block])
    held += [(0,) * 6] * (len(executed) - len(held))
    return spectrum_of(
        RUNS,
        entities,
        sparse.csr_array(np.array(executed, np.int64).T),
        sparse.csr_array(np.array(held, np.int64).T),
    )


def _blocks_and_edges() -> tuple[list[Entity], list[Sequence[int]], list[Sequence[int]]]:
    entities = [Entity(EntityKind.BLOCK, Location("schedule.c", line)) for line in FIRST_LINES]
    executed: list[Sequence[int]] = list(BLOCKS)
    for source, target, counts in EDGES:
        place = Location("schedule.c", FIRST_LINES[source])
        entities.append(Entity(EntityKind.EDGE, place, source=source, target=target))
        executed.append(counts)
    return entities, executed, [(0,) * 6] * len(executed)
