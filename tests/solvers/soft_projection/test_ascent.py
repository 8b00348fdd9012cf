"""Dual ascent with duals of 32 bits: what is certified is what the definitions give for the duals as stored."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import soft_projection as oracle
from rankers.soft_projections import NAMES, literal_problem

from labelrank import as_graphs
from labelrank.datasets import make_label_ranking
from labelrank.losses import LogLinearLoss, SoftMarginLoss
from labelrank.models import LabelFeatureModel, LinearModel, Objective
from labelrank.solvers import SoftProjection, Stop
from labelrank.solvers.soft_projection.ascent import initial_duals


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tol", [1e-3, 1e-5])
def test_duals_of_32_bits(name, tol):
    X, y = make_label_ranking(60, 4, n_labels=5, concentration=1.0, random_state=0)
    graphs = as_graphs(y)
    loss = SoftMarginLoss(graphs, name)
    blocks = loss.blocks
    objective = Objective(LinearModel(X, 5, fit_intercept=False), loss, alpha=1.0)
    double, single = (
        SoftProjection(random_state=0, duals=np.zeros(blocks.head[-1, 1], dtype=dtype)).solve(
            objective, np.zeros((4, 5)), Stop(1000, tol)
        )
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
    assert_allclose(single.coef.T, W, atol=1e-9)
    assert single.dual == pytest.approx(linear - 0.5 * (W**2).sum(), rel=1e-9)
    value = oracle.objective(W, X, *literal_problem(graphs, name, 1.0, gamma=gamma))
    assert single.primal == pytest.approx(value, rel=1e-9)
    assert single.gap <= tol


@pytest.mark.parametrize(
    ("n_duals", "tol", "dtype"),
    [(1000, 1e-3, np.float64), (2**26, 1e-3, np.float32), (2**26, 1e-7, np.float64)],
)
def test_very_many_duals_have_32_bits(n_duals, tol, dtype):
    blocks = SimpleNamespace(head=np.array([[0, 0, 0], [1, n_duals, 1]]))
    assert initial_duals(blocks, tol).dtype == dtype


def test_what_the_solver_needs():
    X, y = make_label_ranking(10, 2, n_labels=3, random_state=0)
    model, loss, graphs = LinearModel(X, 3), SoftMarginLoss(as_graphs(y)), as_graphs(y)
    start, stop = np.zeros((3, 3)), Stop(10, 1e-3)
    with pytest.raises(ValueError, match="'soft_projection' needs a loss with blocks, but the loss 'log_linear'"):
        SoftProjection().solve(Objective(model, LogLinearLoss(graphs), alpha=1.0), start, stop)
    with pytest.raises(ValueError, match="needs alpha > 0"):
        SoftProjection().solve(Objective(model, loss), start, stop)
    with pytest.raises(ValueError, match="continues from dual variables"):
        SoftProjection().solve(Objective(model, loss, alpha=1.0), np.ones((3, 3)), stop)
    with pytest.raises(ValueError, match="continues with 3 dual variables"):
        SoftProjection(duals=np.zeros(3)).solve(Objective(model, loss, alpha=1.0), start, stop)
    features = LabelFeatureModel(np.zeros((10, 3, 2)))
    with pytest.raises(ValueError, match="needs a linear model or a kernel matrix, got LabelFeatureModel"):
        SoftProjection().solve(Objective(features, loss, alpha=1.0), np.zeros(2), stop)
