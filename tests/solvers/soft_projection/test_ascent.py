"""Dual ascent with duals of 32 bits: what is certified is what the definitions give for the duals as stored."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import soft_projection as oracle
from rankers.soft_projections import NAMES, literal_problem

from labelrank import as_graphs
from labelrank.datasets import make_label_ranking
from labelrank.losses import SoftMarginLoss
from labelrank.solvers.soft_projection.ascent import SoftProjection, zero_duals
from labelrank.solvers.soft_projection.models import LinearAscent


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tol", [1e-3, 1e-5])
def test_duals_of_32_bits(name, tol):
    X, y = make_label_ranking(60, 4, n_labels=5, concentration=1.0, random_state=0)
    graphs = as_graphs(y)
    loss = SoftMarginLoss(graphs, name)
    blocks = loss.blocks()
    solver = SoftProjection(tol, random_state=np.random.RandomState(0))
    double, single = (
        solver.solve(LinearAscent(X, 5, 0.0), loss, 1.0, np.zeros(blocks.head[-1, 1], dtype=dtype))
        for dtype in (np.float64, np.float32)
    )
    assert single.duals.dtype == np.float32
    assert single.primal == pytest.approx(double.primal, rel=2 * tol)
    gamma = -graphs.levels.astype(float)
    W, linear, o = np.zeros((5, 4)), 0.0, 0
    for i in range(len(X)):
        for s in range(*blocks.head[i : i + 2, 0]):
            A, B = (blocks.members[slice(*blocks.sides[s, side])] for side in ([0, 1], [2, 3]))
            alpha, beta = np.split(single.duals[o : o + len(A) + len(B)].astype(float), [len(A)])
            o += len(A) + len(B)
            assert min(alpha.min(), beta.min()) >= 0
            assert abs(alpha.sum() - beta.sum()) <= 1e-6 * blocks.weight[s]
            assert alpha.sum() <= blocks.weight[s] * (1 + 1e-6)
            W[A] += np.outer(alpha, X[i])
            W[B] -= np.outer(beta, X[i])
            linear += alpha @ gamma[i, A] - beta @ gamma[i, B]
    assert_allclose(single.weights[0], W, atol=1e-9)
    assert single.dual == pytest.approx(linear - 0.5 * (W**2).sum(), rel=1e-9)
    value = oracle.objective(W, X, *literal_problem(graphs, name, 1.0, gamma=gamma))
    assert single.primal == pytest.approx(value, rel=1e-9)
    assert single.gap <= tol * value


@pytest.mark.parametrize(
    ("n_duals", "tol", "dtype"),
    [(1000, 1e-3, np.float64), (2**26, 1e-3, np.float32), (2**26, 1e-7, np.float64)],
)
def test_very_many_duals_have_32_bits(n_duals, tol, dtype):
    blocks = SimpleNamespace(head=np.array([[0, 0, 0], [1, n_duals, 1]]))
    assert zero_duals(blocks, tol).dtype == dtype
