"""Soft-margin loss of complete bipartite subgraphs: its value and a subgradient."""

from typing import Any, NamedTuple

import numpy as np

from labelrank._kernels.compile import kernel


class BipartiteBlocks(NamedTuple):
    """Complete bipartite subgraphs A × B of all instances.

    Instances are visited in random order and cache misses dominate the cost of an epoch, so numbers that are read
    together are stored together.
    """

    head: Any  # (n_instances + 1, 3): where the subgraphs, the duals and the members of an instance begin
    sides: Any  # (n_subgraphs, 4): the slices of members that are A and B, as start, stop, start, stop
    members: Any  # labels
    gamma: Any  # target of each member; if empty, targets are 1 in A and 0 in B
    weight: Any  # (n_subgraphs,)
    largest: int  # number of labels of the largest subgraph


@kernel(inline="always")
def target(gamma, m, unit):
    """Return the target of a member; `unit` is that for margins of 1."""
    return gamma[m] if len(gamma) else unit


@kernel
def slack(scores, first, blocks, out):
    """Return Σ weight ξ of the instances from `first` on; write a subgradient into `out` unless it is empty.

    ξ is the slack of a subgraph: the largest shortfall in A plus the largest in B, or 0.
    """
    loss = 0.0
    for r in range(len(scores)):
        f = scores[r]
        if len(out):
            out[r] = 0.0
        for s in range(blocks.head[first + r, 0], blocks.head[first + r + 1, 0]):
            a, b = blocks.sides[s, 0], blocks.sides[s, 2]
            top_a, top_b = -np.inf, -np.inf
            for m in range(blocks.sides[s, 0], blocks.sides[s, 1]):
                short = target(blocks.gamma, m, 1.0) - f[blocks.members[m]]
                if short > top_a:
                    top_a, a = short, m
            for m in range(blocks.sides[s, 2], blocks.sides[s, 3]):
                short = f[blocks.members[m]] - target(blocks.gamma, m, 0.0)
                if short > top_b:
                    top_b, b = short, m
            if top_a + top_b > 0.0:
                loss += blocks.weight[s] * (top_a + top_b)
                if len(out):
                    out[r, blocks.members[a]] -= blocks.weight[s]
                    out[r, blocks.members[b]] += blocks.weight[s]
    return loss
