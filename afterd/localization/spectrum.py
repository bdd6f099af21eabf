"""Program spectra: how often each test executed each entity, and which tests failed.

One spectrum holds entities of several kinds as columns of one sparse matrix, so that a test run is
one row however many things were counted in it. Techniques pick the columns they understand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from afterd.model.entity import NO_COLUMN, Entity, EntityKind, Run

__all__ = [
    "NO_COLUMN",
    "Columns",
    "Counts",
    "Entity",
    "EntityKind",
    "Evaluations",
    "FloatMatrix",
    "Mask",
    "Matrix",
    "Run",
    "Spectrum",
    "Vector",
    "runs_executing",
    "spectrum_of",
]

Vector: TypeAlias = NDArray[np.float64]
Columns: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
Matrix: TypeAlias = "sparse.csr_array[np.int64, tuple[int, int]]"
FloatMatrix: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Per entity: failed and passed runs that executed it (ef, ep) and that did not (nf, np)."""

    ef: Vector
    ep: Vector
    nf: Vector
    np: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Evaluations:
    """Per run (row) and predicate (column): how often it was evaluated, and how often it held."""

    evaluated: Matrix
    held: Matrix
    failed: Mask


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """Runs × entities. Made by ``spectrum_of``, which checks and normalises the two matrices.

    ``executed`` counts executions (evaluations of a predicate or condition); ``held`` counts how
    often a predicate or condition was true, and is empty in every other column. Neither stores a
    zero or a cell twice.
    """

    runs: tuple[Run, ...]
    entities: tuple[Entity, ...]
    executed: Matrix
    held: Matrix

    @property
    def failed(self) -> Mask:
        """Which rows are failed runs."""
        return np.fromiter((run.failed for run in self.runs), np.bool_, len(self.runs))

    def columns(self, *kinds: EntityKind) -> Columns:
        """The columns of the entities of these kinds, ascending."""
        wanted = frozenset(kinds)
        return np.fromiter(
            (column for column, entity in enumerate(self.entities) if entity.kind in wanted),
            np.intp,
        )

    @property
    def units(self) -> Columns:
        """What a programmer examines one by one: the statements; without any, the blocks."""
        statements = self.columns(EntityKind.STATEMENT)
        return statements if statements.size else self.columns(EntityKind.BLOCK)

    def counts(self, columns: Columns) -> Counts:
        """ef, ep, nf and np of the given columns, in their order."""
        failed = self.failed
        ef = runs_executing(self.executed, failed)[columns]
        ep = runs_executing(self.executed, ~failed)[columns]
        return Counts(ef, ep, failed.sum() - ef, (~failed).sum() - ep)

    def evaluations(self, columns: Columns) -> Evaluations:
        """The evaluation results of the given predicate or condition columns, in their order."""
        return Evaluations(self.executed[:, columns], self.held[:, columns], self.failed)

    @property
    def shortest_failed(self) -> Sequence[Run]:
        """The failed runs, those with the fewest executions of units first: they are explained soonest."""
        lengths: Vector = np.asarray(self.executed[:, self.units].sum(axis=1))
        rows = sorted(np.flatnonzero(self.failed), key=lambda row: (lengths[row], row))
        return [self.runs[row] for row in rows]

    def totals(self, rows: Mask) -> Vector:
        """Per column, the executions summed over the chosen rows."""
        return np.asarray(rows.astype(np.float64) @ self.executed, dtype=np.float64)


def spectrum_of(
    runs: Sequence[Run],
    entities: Sequence[Entity],
    executed: Matrix,
    held: Matrix | None = None,
) -> Spectrum:
    """A checked spectrum of matrices of shape runs × entities; ``held`` may be left out.

    Raises ValueError where a shape is wrong, a count is negative, a predicate held more often than
    it was evaluated, or an entity or run refers to a column that is not of the kind it must be.
    """
    shape = (len(runs), len(entities))
    executed = _normal(executed, shape)
    held = _normal(sparse.csr_array(shape, dtype=np.int64) if held is None else held, shape)
    excess = executed - held
    if excess.nnz and excess.data.min() < 0:
        raise ValueError("a predicate held more often than it was evaluated")
    _check_references(runs, entities)
    return Spectrum(tuple(runs), tuple(entities), executed, held)


def _normal(matrix: Matrix, shape: tuple[int, int]) -> Matrix:
    """A copy with every cell stored once and no zero stored, as counting hits needs it."""
    if matrix.shape != shape:
        raise ValueError(f"the matrix is {matrix.shape}, the runs and entities say {shape}")
    normal: Matrix = matrix.astype(np.int64, copy=True)
    normal.sum_duplicates()
    normal.eliminate_zeros()
    if normal.nnz and normal.data.min() < 0:
        raise ValueError("a count is negative")
    return normal


def _check_references(runs: Sequence[Run], entities: Sequence[Entity]) -> None:
    def is_block(column: int) -> bool:
        return 0 <= column < len(entities) and entities[column].kind is EntityKind.BLOCK

    for column, entity in enumerate(entities):
        ends = (entity.source, entity.target)
        if entity.kind is EntityKind.EDGE and not all(is_block(end) for end in ends):
            raise ValueError(f"the edge in column {column} does not join two blocks")
        if entity.block != NO_COLUMN and not is_block(entity.block):
            raise ValueError(f"the entity in column {column} belongs to something not a block")
    for run in runs:
        if not NO_COLUMN <= run.crashed_in < len(entities):
            raise ValueError(f"the run {run.name!r} crashed in a column that does not exist")


def runs_executing(counts: Matrix, rows: Mask) -> Vector:
    """Per column, how many of the chosen rows store a count (matrices here store no zeros)."""
    chosen = np.repeat(rows, np.diff(counts.indptr))
    hits = np.bincount(counts.indices[chosen], minlength=counts.shape[1])
    return hits.astype(np.float64)
