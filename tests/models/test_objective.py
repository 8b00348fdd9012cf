"""Objectives: blocks of rows and threads are the plain sum, the penalty is where it belongs, widths are curvatures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import approx_fprime

from labelrank import as_graphs
from labelrank.losses import LogLinearLoss, Loss, PlackettLuceLoss, SoftMarginLoss
from labelrank.models import LabelFeatureModel, LinearModel, Objective

N, D, K = 800, 4, 5


class SmallBlocks(LinearModel):
    block_rows = 7


def problem(loss=LogLinearLoss, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.7)
    ranks = np.where(rng.random((N, K)) < 0.2, np.nan, rng.integers(1, 4, (N, K)))
    return X, loss(as_graphs(ranks), None, rng.random(N))


@pytest.mark.parametrize("make", [LogLinearLoss, PlackettLuceLoss, SoftMarginLoss])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("model", [LinearModel, SmallBlocks])
@pytest.mark.parametrize("n_jobs", [None, 2, 3])
def test_blocks_and_threads_are_the_plain_sum(make, form, model, n_jobs):
    X, loss = problem(make)
    coef = np.random.default_rng(1).normal(size=(D + 1, K))
    objective = Objective(model(form(X), K), loss, alpha=0.3, n_jobs=n_jobs)
    gradient = np.empty((N, K))
    penalized = coef * (np.arange(D + 1) < D)[:, None]
    value = loss.value_and_gradient(X @ coef[:D] + coef[D], gradient) + 0.15 * (penalized**2).sum()
    expected = np.vstack([X.T @ gradient, gradient.sum(axis=0)]) + 0.3 * penalized
    found = objective.value_and_gradient(coef)
    assert_allclose(found[0], value)
    assert_allclose(found[1], expected, atol=1e-10)
    if "flows" in loss.abilities:
        value, plus, minus = objective.value_and_weights(coef)
        assert_allclose(value, found[0])
        assert min(plus.min(), minus.min()) >= 0
        assert_allclose(plus - minus, expected - 0.3 * penalized, atol=1e-10)  # without the penalty


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_sums_are_added_to_arrays_that_are_given(n_jobs):
    X, loss = problem()
    coef = np.random.default_rng(1).normal(size=(D + 1, K))
    objective = Objective(LinearModel(X, K), loss, n_jobs=n_jobs)
    for method, whole in ((objective.add_gradient, objective.loss_and_gradient(coef)),
                          (objective.add_weights, objective.loss_and_weights(coef))):  # fmt: skip
        totals = [np.full(coef.shape, 2.0) for _ in whole[1:]]
        assert method(coef, *totals) == whole[0]
        for total, alone in zip(totals, whole[1:], strict=True):
            assert_allclose(total, alone + 2)


@pytest.mark.parametrize("make", [LogLinearLoss, PlackettLuceLoss])
def test_gradient_is_the_slope_of_the_value(make):
    X, loss = problem(make)
    objective = Objective(LinearModel(X, K), loss, alpha=2.0)
    coef = np.random.default_rng(1).normal(size=(D + 1) * K)
    slope = approx_fprime(coef, lambda c: objective.value_and_gradient(c.reshape(-1, K))[0], 1e-6)
    assert_allclose(objective.value_and_gradient(coef.reshape(-1, K))[1].ravel(), slope, atol=1e-2)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_widths_are_roots_of_second_derivatives(fit_intercept):
    """For two labels they are exact at coefficients of zero."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * [1.0, 10.0, 0.1]
    loss = LogLinearLoss(as_graphs(rng.permuted(np.tile([1.0, 2.0], (50, 1)), axis=1)))
    objective = Objective(LinearModel(X, 2, fit_intercept=fit_intercept), loss, alpha=3.0)
    zeros, step = np.zeros(objective.coef_shape), 1e-5
    for row, width in enumerate(objective.widths):
        there = zeros.copy()
        there[row, 0] = step
        second = (objective.value_and_gradient(there)[1] - objective.value_and_gradient(-there)[1])[row, 0] / (2 * step)
        assert_allclose(width**2, second / 50, rtol=1e-4)


def test_widths_where_nothing_bends():
    X = np.array([[0.0, 1.0], [0.0, -1.0]])
    objective = Objective(LinearModel(X, 2, fit_intercept=False), LogLinearLoss(as_graphs([[1, 2], [2, 1]])))
    assert_allclose(objective.widths, [1.0, 0.5])


def test_widths_of_a_loss_without_abilities():
    class Plain(Loss):
        pass

    objective = Objective(LinearModel(np.full((4, 1), 3.0), 2), Plain(as_graphs([[1, 2]] * 4)))
    assert_allclose(objective.widths, [1.5, 0.5])  # as if the second derivative were a quarter


def test_mean_loss_divides_by_the_weight_of_what_counts():
    graphs = as_graphs([[1, 2], [1, 1], [2, 1], [1, np.nan]])
    loss = LogLinearLoss(graphs, sample_weight=np.array([2.0, 7.0, 0.0, 5.0]))
    objective = Objective(LinearModel(np.zeros((4, 1)), 2), loss)
    assert objective.total_weight == 2
    assert_allclose(objective.value_and_gradient(np.zeros((2, 2)))[0] / objective.total_weight, np.log(2))
    nothing = LogLinearLoss(graphs, sample_weight=np.zeros(4))
    assert Objective(LinearModel(np.zeros((4, 1)), 2), nothing).total_weight == 1


def test_all_coefficients_of_label_features_are_penalized():
    objective = Objective(LabelFeatureModel(np.zeros((3, 2, 4))), LogLinearLoss(as_graphs([[1, 2]] * 3)), alpha=2.0)
    assert objective.penalty(np.ones(4)) == 4
    assert_allclose(objective.value_and_gradient(np.ones(4))[1], 2)
