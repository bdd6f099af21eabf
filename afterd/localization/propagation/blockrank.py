"""BlockRank: propagation over mean edge profiles, with crashes as transitions that did not come."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from afterd.localization.propagation.equations import solve
from afterd.localization.propagation.flow_graph import FlowGraph, Profile
from afterd.localization.spectrum import Vector


def blockrank(graph: FlowGraph) -> Vector:
    """The fault relevance of every block, crashes calibrated after solving: equations (1) to (6).

    ``BR(j) = Σ_k BR(k) · ψ(j, k) / Σ ψ(*, k)`` is solved as if no run stopped inside a block, ψ
    being the suspicious edge profile of Definition 1; then ``BR'(j) = T(j) · BR(j) + (1 - T(j)) ·
    I(j)`` weighs in the runs that did, where I(j) is the inflow of j. A crash so raises the block
    it happened in, and not the blocks that lead there.

    Zhang, Chan, Tse and Jiang, *Precise propagation of fault-failure correlations in program flow
    graphs*, COMPSAC 2011, section II-C, the way its example is calculated.
    """
    values = suspicious_profile(graph)
    inflow = graph.inflow(values)
    at_exit = np.where(graph.leaves == 1.0, 0.0, inflow)
    relevance = solve(graph.shares(values), at_exit, inflow)
    return graph.transition_rate * relevance + (1.0 - graph.transition_rate) * inflow


def blockrank_joint(graph: FlowGraph) -> Vector:
    """The fault relevance of every block by equation (8), crashes part of the equation set.

    ``BR(j) = T(j) · Σ_k BR(k) · ψ(j, k) / Σ ψ(*, k) + (1 - T(j)) · I(j)``: what a crash adds to a
    block is passed on to the blocks before it. Section III-C of the same paper.
    """
    values = suspicious_profile(graph)
    inflow = graph.inflow(values)
    rate = graph.transition_rate * graph.leaves
    weights = sparse.csr_array(sparse.diags_array(rate) @ graph.shares(values))
    return solve(weights, (1.0 - rate) * inflow, inflow)


def suspicious_profile(graph: FlowGraph) -> Profile:
    """Definition 1: what an edge is taken more often in a failed run than in a passed one."""
    return Profile(
        graph.failed.edges - graph.passed.edges, graph.failed.entries - graph.passed.entries
    )
