"""What the counters of a build count: the entities of its functions, each a sum of counters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy import sparse

from afterd.model.entity import NO_COLUMN, Entity, EntityKind
from afterd.model.location import Location
from afterd.spectra.c.crash import Frame
from afterd.spectra.c.places import Places, Sources
from afterd.spectra.c.plan import Plan, planned_counters
from afterd.spectra.c.predicates import Sum, predicates
from afterd.trace.c.build.modules import ModuleStore
from afterd.trace.c.ir.ir import Function, parse_function
from afterd.trace.c.read import Unit

Key = tuple[str, str, int, int]
Summed = list[tuple[int, int, int]]  # counter, column, weight


@dataclass(frozen=True, slots=True, eq=False)
class CountedProgram:
    """``counts @ executed`` are the executions of the entities; ``counts @ held`` how often they held.

    Both matrices are counters × entities. ``frames`` are the functions, for finding where a run died.
    """

    entities: tuple[Entity, ...]
    executed: sparse.csr_array[np.int64, tuple[int, int]]
    held: sparse.csr_array[np.int64, tuple[int, int]]
    frames: tuple[Frame, ...]
    size: int

    @property
    def calls(self) -> tuple[tuple[int, int], ...]:
        """Each block that calls a function of the program by its name, and that one's first block."""
        entry = {frame.name: frame.column for frame in self.frames}
        pairs = (
            (frame.column + block, entry[name])
            for frame in self.frames
            for block, names in enumerate(frame.calls)
            for name in sorted(names)
            if name in entry
        )
        return tuple(dict.fromkeys(pairs))


def counted_program(store: ModuleStore, root: Path) -> CountedProgram:
    """The entities of everything that was built below ``root``, files relative to it.

    A function of a header that several modules hold is one function: its counts are added.
    """
    made = _Making(Sources(root))
    for module in store.modules():
        unit = Unit(module, root)
        for numbered in module.functions:
            text = unit.text[numbered.start : numbered.end]
            made.add(unit, parse_function(text), numbered.first.blocks - 1)
    size = max(store.blocks() - 1, 0)
    shape = (size, len(made.entities))
    return CountedProgram(
        tuple(made.entities),
        _matrix(made.executed, shape),
        _matrix(made.held, shape),
        tuple(made.frames),
        size,
    )


def _matrix(summed: Summed, shape: tuple[int, int]) -> sparse.csr_array[np.int64, tuple[int, int]]:
    counters, columns, weights = np.array(summed, np.int64).reshape(-1, 3).T
    return sparse.coo_array((weights, (counters, columns)), shape=shape).tocsr()


@dataclass(slots=True)
class _Making:
    """Entities numbered as functions are added."""

    sources: Sources
    entities: list[Entity] = field(default_factory=list)
    executed: Summed = field(default_factory=list)
    held: Summed = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    known: dict[Key, int] = field(default_factory=dict)  # function → its first column

    def add(self, unit: Unit, function: Function, first: int) -> None:
        """A function whose counters begin at ``first``."""
        places = Places(unit, function, self.sources)
        if not places.is_own:
            return
        key = (function.name, places.file, places.line, len(function.blocks))
        seen = self.known.setdefault(key, len(self.entities))
        again = seen != len(self.entities)
        plan = planned_counters(function)
        for entity, executed, held in _entities(function, plan, places, seen):
            column = seen
            seen += 1
            if not again:
                self.entities.append(entity)
            self.executed += [(first + counter, column, weight) for counter, weight in executed]
            self.held += [(first + counter, column, weight) for counter, weight in held]
        self.frames.append(Frame.of(function, plan, first, self.known[key]))


def _entities(
    function: Function, plan: Plan, places: Places, first: int
) -> Iterator[tuple[Entity, Sum, Sum]]:
    """Blocks, edges, statements, predicates and conditions, the blocks in columns from ``first``."""
    executions: Mapping[int, tuple[int, ...]] = plan.executions()

    def summed(block: int) -> Sum:
        return tuple((counter, 1) for counter in executions.get(block, ()))

    def at(kind: EntityKind, line: int, block: int = NO_COLUMN) -> Entity:
        place = Location(places.file, line, function=places.name)
        return Entity(kind, place, block=block)

    for block in range(len(function.blocks)):
        yield at(EntityKind.BLOCK, places.first_line(block)), summed(block), ()
    for (source, target), counter in plan.edges.items():
        place = Location(places.file, places.last_line(source), function=places.name)
        edge = Entity(EntityKind.EDGE, place, source=first + source, target=first + target)
        yield edge, ((counter, 1),), ()
    for block in range(len(function.blocks)):
        for line in places.lines(block):
            yield at(EntityKind.STATEMENT, line, first + block), summed(block), ()
    for found in predicates(function, plan):
        line = places.last_line(found.block)
        entity = at(found.kind, line, first + found.block)
        yield entity, found.evaluated, found.held
