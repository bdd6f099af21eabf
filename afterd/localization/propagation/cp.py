"""CP: capturing the propagation of infected program states."""

from __future__ import annotations

import numpy as np

from afterd.localization.coefficients.statements import quotient
from afterd.localization.propagation.equations import solve
from afterd.localization.propagation.flow_graph import FlowGraph, Profile
from afterd.localization.spectrum import Vector


def cp(graph: FlowGraph) -> Vector:
    """The suspiciousness of every block of the graph.

    An edge's suspiciousness is ``θ(e) = (failed - passed) / (failed + passed)`` of its two mean
    frequencies, in [-1, 1]. A block's is the sum over its successors of their suspiciousness times
    the share of this edge in theirs: ``BR(j) = Σ_k BR(k) · θ(j, k) / Σ θ(*, k)``; at an exit it is
    the sum of its incoming edges'. There is no account of runs that stop inside a block.

    Zhang, Chan, Tse, Jiang and Wang, *Capturing propagation of infected program states*,
    ESEC/FSE 2009, section 3. As in BlockRank, entering a function counts as an incoming edge.
    """
    values = Profile(
        _contrast(graph.failed.edges, graph.passed.edges),
        _contrast(graph.failed.entries, graph.passed.entries),
    )
    inflow = graph.inflow(values)
    at_exit = np.where(graph.leaves == 1.0, 0.0, inflow)
    return solve(graph.shares(values), at_exit, inflow)


def _contrast(failed: Vector, passed: Vector) -> Vector:
    return quotient(failed - passed, failed + passed)
