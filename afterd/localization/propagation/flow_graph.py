"""The control-flow graphs of a spectrum as arrays, with the mean edge profiles of both outcomes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from afterd.localization.coefficients.statements import quotient
from afterd.localization.spectrum import Columns, EntityKind, FloatMatrix, Spectrum, Vector

# A sum of edge values this much smaller than its terms has cancelled: what is left is rounding.
CANCELLED = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Mean executions of every edge, and mean entries into a function at every block."""

    edges: Vector
    entries: Vector


@dataclass(frozen=True, slots=True, eq=False)
class FlowGraph:
    """All functions' graphs side by side; blocks and edges are numbered from 0.

    ``blocks`` are the columns of the blocks. ``executions`` and ``departures`` count, over all
    runs, how often a block was begun and how often one of its outgoing edges was taken.
    """

    blocks: Columns
    sources: Columns
    targets: Columns
    passed: Profile
    failed: Profile
    executions: Vector
    departures: Vector

    @property
    def leaves(self) -> Vector:
        """1 for a block with an outgoing edge, 0 for an exit of its function."""
        return (np.bincount(self.sources, minlength=self.blocks.size) > 0).astype(np.float64)

    @property
    def transition_rate(self) -> Vector:
        """T(b), equation (7), in [0, 1]: the rate at which an execution of the block left it.

        Executions that no incoming edge accounts for entered the function there; the equation's
        denominator would miss them. An exception or longjmp may leave a block more often than the
        counters saw it begin; that is cut at 1.
        """
        return np.minimum(quotient(self.departures, self.executions), 1.0)

    def inflow(self, values: Profile) -> Vector:
        """Per block, the sum over its incoming edges and over entering the function there."""
        total = self._arriving(values)
        terms = self._arriving(Profile(np.abs(values.edges), np.abs(values.entries)))
        return np.where(np.abs(total) > CANCELLED * terms, total, 0.0)

    def shares(self, values: Profile) -> FloatMatrix:
        """Element (j, k): the share of edges from j in the inflow of k; 0 where that is 0."""
        inflow = self.inflow(values)[self.targets]
        share = np.where(inflow == 0, 0.0, quotient(values.edges, inflow))
        size = self.blocks.size
        return sparse.coo_array((share, (self.sources, self.targets)), shape=(size, size)).tocsr()

    def _arriving(self, values: Profile) -> Vector:
        return _gathered_by_block(self.targets, values.edges, self.blocks.size) + values.entries


def flow_graph(spectrum: Spectrum) -> FlowGraph:
    """The graph of the spectrum's block and edge columns."""
    blocks = spectrum.columns(EntityKind.BLOCK)
    edges = spectrum.columns(EntityKind.EDGE)
    sources = _column_ends(blocks, [spectrum.entities[edge].source for edge in edges])
    targets = _column_ends(blocks, [spectrum.entities[edge].target for edge in edges])
    passed, failed = spectrum.totals(~spectrum.failed), spectrum.totals(spectrum.failed)
    total = passed + failed

    def profile(sums: Vector, runs: int) -> Profile:
        arrivals = _gathered_by_block(targets, sums[edges], blocks.size)
        entries = np.maximum(sums[blocks] - arrivals, 0.0)
        return Profile(sums[edges] / max(runs, 1), entries / max(runs, 1))

    arrivals = _gathered_by_block(targets, total[edges], blocks.size)
    return FlowGraph(
        blocks=blocks,
        sources=sources,
        targets=targets,
        passed=profile(passed, int((~spectrum.failed).sum())),
        failed=profile(failed, int(spectrum.failed.sum())),
        executions=np.maximum(total[blocks], arrivals),
        departures=_gathered_by_block(sources, total[edges], blocks.size),
    )


def _gathered_by_block(ends: Columns, values: Vector, blocks: int) -> Vector:
    """Per block, the values of the edges that end (or start) there, summed."""
    return np.bincount(ends, values, blocks).astype(np.float64)


def _column_ends(blocks: Columns, columns: list[int]) -> Columns:
    """The numbers of the blocks in the given columns (``blocks`` is ascending)."""
    return np.searchsorted(blocks, np.asarray(columns, dtype=np.intp))
