"""Small spectra for tests: from tables, from drawn matrices, from walks over drawn graphs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from scipy import sparse

from afterd.localization.rows import CountRows
from afterd.localization.spectrum import Counts, Entity, EntityKind, Run, Spectrum, spectrum_of
from afterd.model.location import Location

timeless = settings(deadline=None)  # on a shared machine any example may be held up

MAX_STEPS = 60
CRASH_RATE = 0.1


def statements(rows: Sequence[Sequence[int]], outcomes: str) -> Spectrum:
    """One statement a column on lines 1, 2, …; ``outcomes`` has + or - for each row."""
    matrix = np.array(rows, np.int64).reshape(len(outcomes), -1)
    return spectrum_of(
        [Run(f"t{i}", sign == "-") for i, sign in enumerate(outcomes, start=1)],
        [
            Entity(EntityKind.STATEMENT, Location("f.c", line))
            for line in range(1, matrix.shape[1] + 1)
        ],
        sparse.csr_array(matrix),
    )


def predicates(rows: Sequence[Sequence[tuple[int, int]]], outcomes: str) -> Spectrum:
    """One predicate a column; a cell is how often it was (true, false)."""
    cells = np.array(rows, np.int64).reshape(len(outcomes), -1, 2)
    return spectrum_of(
        [Run(f"t{i}", sign == "-") for i, sign in enumerate(outcomes, start=1)],
        [
            Entity(EntityKind.PREDICATE, Location("f.c", line))
            for line in range(1, cells.shape[1] + 1)
        ],
        sparse.csr_array(cells.sum(axis=2)),
        sparse.csr_array(cells[:, :, 0]),
    )


def counts(ef: float, ep: float, nf: float, np_: float) -> Counts:
    """The counts of a single entity."""
    return Counts(*(np.array([float(value)]) for value in (ef, ep, nf, np_)))


@st.composite
def drawn_statements(draw: st.DrawFn, *, least: int = 1) -> Spectrum:
    """A statement spectrum of up to 8 runs, at least one failed, and up to 8 statements."""
    outcomes = draw(st.text("+-", min_size=1, max_size=8).filter(lambda text: "-" in text))
    width = draw(st.integers(least, 8))
    row = st.lists(st.integers(0, 3), min_size=width, max_size=width)
    rows = draw(st.lists(row, min_size=len(outcomes), max_size=len(outcomes)))
    return statements(rows, outcomes)


@st.composite
def drawn_predicates(draw: st.DrawFn) -> Spectrum:
    """A predicate spectrum of up to 8 runs and up to 5 predicates."""
    outcomes = draw(st.text("+-", min_size=1, max_size=8))
    width = draw(st.integers(1, 5))
    cell = st.tuples(st.integers(0, 3), st.integers(0, 3))
    row = st.lists(cell, min_size=width, max_size=width)
    return predicates(draw(st.lists(row, min_size=len(outcomes), max_size=len(outcomes))), outcomes)


@st.composite
def drawn_programs(draw: st.DrawFn, *, crashes: bool) -> Spectrum:
    """Blocks and edges of a few functions, counted over random walks through them.

    Every walk goes from a function's first block to an exit of it; with ``crashes`` a run may also
    end inside any block.
    """
    shuffle = draw(st.randoms(use_true_random=False))
    functions = [_graph(shuffle, draw(st.integers(1, 6))) for _ in range(draw(st.integers(1, 3)))]
    outcomes = draw(st.text("+-", min_size=2, max_size=6).filter(lambda text: len(set(text)) == 2))
    return walked(functions, outcomes, shuffle, crash_rate=CRASH_RATE if crashes else 0.0)


Graph = list[list[int]]


def _graph(shuffle: random.Random, size: int) -> Graph:
    """Successors of every block; each has one with a higher number, the last is an exit."""
    return [
        sorted({shuffle.randrange(block + 1, size), *_sample(shuffle, size)})
        if block < size - 1
        else []
        for block in range(size)
    ]


def _sample(shuffle: random.Random, size: int) -> list[int]:
    return [shuffle.randrange(size) for _ in range(shuffle.randrange(3))]


def walked(
    functions: list[Graph], outcomes: str, shuffle: random.Random, *, crash_rate: float
) -> Spectrum:
    """The spectrum of one run per outcome, each walking every function some times."""
    keys = [(f, block, -1) for f, graph in enumerate(functions) for block in range(len(graph))]
    edges = [
        (f, source, target)
        for f, graph in enumerate(functions)
        for source, targets in enumerate(graph)
        for target in targets
    ]
    column = {key: number for number, key in enumerate([*keys, *edges])}
    rows = CountRows()
    for _ in outcomes:
        seen = _run(functions, shuffle, crash_rate)
        rows.add_mapping({column[key]: count for key, count in seen.items()})
    entities = [
        *(Entity(EntityKind.BLOCK, Location("f.c", n, function=str(f))) for f, n, _ in keys),
        *(
            Entity(
                EntityKind.EDGE,
                Location("f.c", s),
                source=column[f, s, -1],
                target=column[f, t, -1],
            )
            for f, s, t in edges
        ),
    ]
    runs = [Run(f"t{i}", sign == "-") for i, sign in enumerate(outcomes)]
    return spectrum_of(runs, entities, rows.matrix(len(entities)))


def _run(
    functions: list[Graph], shuffle: random.Random, crash_rate: float
) -> Counter[tuple[int, int, int]]:
    seen: Counter[tuple[int, int, int]] = Counter()
    for f, graph in enumerate(functions):
        for _ in range(shuffle.randrange(4)):
            block, steps = 0, 0
            seen[f, block, -1] += 1
            while graph[block]:
                if shuffle.random() < crash_rate:
                    return seen
                steps += 1  # after many, walk straight to the exit
                target = max(graph[block]) if steps > MAX_STEPS else shuffle.choice(graph[block])
                seen[f, block, target] += 1
                seen[f, target, -1] += 1
                block = target
    return seen
