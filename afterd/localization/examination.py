"""The code-examining effort: what share of the code is read before the fault is met."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

import numpy as np
from scipy import sparse

from afterd.localization.ranking import best_places, worst_places
from afterd.localization.spectrum import (
    NO_COLUMN,
    Columns,
    EntityKind,
    Mask,
    Matrix,
    Spectrum,
    Vector,
)
from afterd.localization.techniques import Suspicion

TOP_PREDICATES = 5  # the top-5 T-score: footnote 9 of the BlockRank paper

Line = tuple[str, int]


def effort(
    spectrum: Spectrum,
    suspicion: Suspicion,
    faulty: Mask,
    calls: Iterable[tuple[int, int]] = (),
) -> float:
    """The share of units examined, in (0, 1], until the first that is ``faulty`` (a unit mask).

    Rankings of statements and blocks are read from the top, ties as a whole; rankings of
    predicates and conditions by T-score, along the control-flow graphs and from callers to those
    they call (``calls``, pairs of blocks) and back. BlockRank paper, section IV-A.3. Raises
    ValueError where no unit is faulty: there is nothing to find.
    """
    if not faulty.any():
        raise ValueError("no unit of the spectrum is faulty")
    kinds = {spectrum.entities[column].kind for column in suspicion.columns}
    if kinds & {EntityKind.PREDICATE, EntityKind.CONDITION}:
        return t_score(spectrum, suspicion, faulty, [*_flow(spectrum), *calls])
    places = worst_places(on_units(spectrum, suspicion))
    return float(places[faulty].min()) / places.size


def t_score(
    spectrum: Spectrum,
    suspicion: Suspicion,
    faulty: Mask,
    dependences: Iterable[tuple[int, int]] | None = None,
) -> float:
    """The share of units within the distance of the nearest fault from the top five predicates.

    A breadth-first walk in both directions along ``dependences`` (pairs of columns: a program
    dependence graph); along the control-flow graph where none are given. A level is examined whole,
    and so are predicates tied with the fifth. What the walk does not reach comes last: 1.0.

    Renieris and Reiss, *Fault localization with nearest neighbor queries*, ASE 2003, section 4.
    """
    units = spectrum.units
    fault = np.zeros(len(spectrum.entities), np.bool_)
    fault[units[faulty]] = True
    start = suspicion.columns[best_places(suspicion.scores) <= TOP_PREDICATES]
    for seen in _levels(_adjacency(spectrum, dependences), start):
        if (seen & fault).any():
            return float(seen[units].sum()) / units.size
    return 1.0


def on_units(spectrum: Spectrum, suspicion: Suspicion) -> Vector:
    """Per unit its score, or its block's; what nothing speaks for comes last, at -∞.

    The additional block at the end of the list of section III-C.3.
    """
    own = np.full(len(spectrum.entities) + 1, -np.inf)  # the last one answers for NO_COLUMN
    own[suspicion.columns] = suspicion.scores
    units = spectrum.units
    blocks = [spectrum.entities[unit].block for unit in units]
    scores: Vector = np.maximum(own[units], own[blocks])
    return scores


def units_on(spectrum: Spectrum, lines: Collection[Line]) -> Mask:
    """Which units of the spectrum stand on one of the lines (file, line)."""
    wanted = frozenset(lines)
    return np.fromiter((_line(spectrum, unit) in wanted for unit in spectrum.units), np.bool_)


def _line(spectrum: Spectrum, column: int) -> Line:
    location = spectrum.entities[column].location
    return location.file, location.line


def _levels(adjacency: Matrix, start: Columns) -> Iterator[Mask]:
    """All columns within distance 0, 1, 2, … of the start, until no more are reached."""
    seen = np.zeros(adjacency.shape[0], np.bool_)
    seen[start] = True
    frontier = seen
    while frontier.any():
        yield seen
        frontier = ((adjacency @ frontier.astype(np.int64)) > 0) & ~seen
        seen = seen | frontier


def _adjacency(spectrum: Spectrum, dependences: Iterable[tuple[int, int]] | None) -> Matrix:
    """Neighbours in both directions; an entity neighbours its block and the units on its line."""
    pairs = [*_attachments(spectrum), *(_flow(spectrum) if dependences is None else dependences)]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    size = len(spectrum.entities)
    weights = np.ones(len(ends), np.int64)
    one_way = sparse.csr_array((weights, (ends[:, 0], ends[:, 1])), shape=(size, size))
    return sparse.csr_array(one_way + one_way.T)


def _flow(spectrum: Spectrum) -> Iterator[tuple[int, int]]:
    for column, entity in enumerate(spectrum.entities):
        if entity.kind is EntityKind.EDGE:
            yield entity.source, entity.target
        elif entity.block != NO_COLUMN:
            yield column, entity.block


def _attachments(spectrum: Spectrum) -> Iterator[tuple[int, int]]:
    """Each predicate and condition with the units on its line: it is part of those statements."""
    units = defaultdict(list)
    for unit in spectrum.units:
        units[_line(spectrum, unit)].append(int(unit))
    for column in spectrum.columns(EntityKind.PREDICATE, EntityKind.CONDITION):
        for unit in units[_line(spectrum, column)]:
            yield int(column), unit
