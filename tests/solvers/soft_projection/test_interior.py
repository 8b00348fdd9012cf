"""The interior-point method: feasible duals with the requested gap."""

import numpy as np
import pytest
from rankers.soft_projections import NAMES

from labelrank import as_graphs
from labelrank._kernels.solvers.soft_projection.ascent import Duals
from labelrank.datasets import make_label_ranking
from labelrank.losses import SoftMarginLoss
from labelrank.solvers.soft_projection.interior import solve_interior


def objectives(X, loss, C, duals):
    """Both objectives of feasible duals, written out: one subgraph after the other."""
    blocks = loss.blocks
    W, linear, at = np.zeros((loss.shape[1], X.shape[1])), 0.0, 0
    for i in range(loss.shape[0]):
        for s in range(*blocks.head[i : i + 2, 0]):
            sums = []
            for first, last, sign in ((*blocks.sides[s, :2], 1.0), (*blocks.sides[s, 2:], -1.0)):
                for m in range(first, last):
                    W[blocks.members[m]] += sign * duals[at + m - first] * X[i]
                    linear += sign * duals[at + m - first] * blocks.gamma[m]
                sums.append(duals[at : at + last - first].sum())
                at += last - first
            assert abs(sums[0] - sums[1]) <= 1e-9 * C * blocks.weight[s]
            assert sums[0] <= C * blocks.weight[s] * (1 + 1e-9)
    assert at == len(duals)
    assert duals.min() >= 0
    half = 0.5 * (W**2).sum()
    return half + C * loss.value(X @ W.T), linear - half


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("C", [0.3, 30.0, 3e4])
@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_gap(name, C, tol):
    X, y = make_label_ranking(60, 3, n_labels=5, concentration=1.0, random_state=0)
    y[2, 1], y[3], X[4] = np.nan, [1, 1, 2, 2, 2], 0.0
    loss = SoftMarginLoss(as_graphs(y), name, np.arange(60.0) % 7)
    start = np.zeros(loss.blocks.head[-1, 1])
    duals = solve_interior(X, loss.blocks, 5, Duals(start, C), tol)
    assert not start.any()
    primal, dual = objectives(X, loss, C, duals)
    assert -1e-12 * primal <= primal - dual <= 2 * tol * primal


def test_unit_margins():
    X, y = make_label_ranking(30, 2, n_labels=4, concentration=1.0, random_state=0)
    unit = SoftMarginLoss(as_graphs(y), "disagreement", margin="unit")
    blocks = unit.blocks
    duals = solve_interior(X, blocks, 4, Duals(np.zeros(blocks.head[-1, 1]), 2.0), 1e-7)
    # Single pairs have targets of 1 and 0, whichever label comes first in members.
    W, linear = np.zeros((4, 2)), duals[::2].sum()
    for s, i in enumerate(np.repeat(np.arange(30), np.diff(blocks.head[:, 0]))):
        a, b = blocks.members[blocks.sides[s, [0, 2]]]
        W[a] += duals[2 * s] * X[i]
        W[b] -= duals[2 * s + 1] * X[i]
    primal, dual = 0.5 * (W**2).sum() + 2.0 * unit.value(X @ W.T), linear - 0.5 * (W**2).sum()
    assert 0 <= primal - dual <= 2e-7 * primal
