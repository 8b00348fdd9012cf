"""Models of label features: scores and their adjoint, the two weights of boosting, the sizes that solvers ask for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from strategies import edge_rows, graphs_of

from labelrank import GraphRanker, as_graphs
from labelrank.losses import LogLinearLoss
from labelrank.models import LabelFeatureModel, Objective


def random_model(n, k, d=3, seed=0):
    rng = np.random.default_rng(seed)
    model = LabelFeatureModel(rng.normal(size=(n, k, d)))
    return model, rng.normal(size=model.coef_shape)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 3), st.data())
def test_adjoint(n, k, d, data):
    """⟨scores(coef), G⟩ = ⟨coef, adjoint(G)⟩."""
    model, coef = random_model(n, k, d)
    start = data.draw(st.integers(0, n - 1))
    rows = slice(start, data.draw(st.integers(start, n)))
    scores = model.scores(coef, rows)
    assert_allclose(scores, np.einsum("ilb,b->il", model.X[rows], coef))
    rng = np.random.default_rng(1)
    G, total = rng.normal(size=scores.shape), rng.normal(size=coef.shape)
    before = total.copy()
    model.add_gradient(rows, G, total)
    assert_allclose(np.vdot(scores, G), np.vdot(coef, total - before), atol=1e-12)


@given(edge_rows(), st.sampled_from(["zero_one", "disagreement", "domination", "dominated"]))
def test_the_weights_of_boosting(case, name):
    """Edge by edge; their difference is the gradient."""
    rows, k = case
    n = len(rows)
    model, coef = random_model(n, k)
    loss = LogLinearLoss(graphs_of(rows, k), name, np.arange(1.0, n + 1))
    plus, minus = np.zeros(3), np.zeros(3)
    value = model.add_weights(loss, coef, slice(0, n), plus, minus)
    edges = loss.edge_flows(model.scores(coef, slice(0, n)))
    expected_plus, expected_minus, largest = np.zeros(3), np.zeros(3), 0.0
    for i, a, b, q in zip(edges.row, edges.better, edges.worse, edges.flow, strict=True):
        change = model.X[i, b] - model.X[i, a]
        expected_plus += q * np.maximum(change, 0)
        expected_minus += q * np.maximum(-change, 0)
        largest = max(largest, np.abs(change).sum())
    assert_allclose(plus, expected_plus, atol=1e-12)
    assert_allclose(minus, expected_minus, atol=1e-12)
    assert_allclose(model.largest_change(loss), largest)
    gradient, total = np.empty((n, k)), np.zeros(3)
    assert_allclose(loss.value_and_gradient(model.scores(coef, slice(0, n)), gradient), value, atol=1e-12)
    model.add_gradient(slice(0, n), gradient, total)
    assert_allclose(plus - minus, total, atol=1e-12)


def test_blocks_of_rows_add_up():
    """More rows than a block holds."""
    model, coef = random_model(400, 40, 5)
    assert model.n_samples > model.block_rows
    ranks = np.random.default_rng(2).integers(1, 5, (400, 40)).astype(float)
    loss = LogLinearLoss(as_graphs(ranks), "domination")
    value, gradient = Objective(model, loss).value_and_gradient(coef)
    slope, total = np.empty((400, 40)), np.zeros(5)
    assert_allclose(value, loss.value_and_gradient(model.scores(coef, slice(0, 400)), slope))
    model.add_gradient(slice(0, 400), slope, total)
    assert_allclose(gradient, total)
    _, plus, minus = Objective(model, loss).value_and_weights(coef)
    assert_allclose(plus - minus, gradient, atol=1e-10 * plus.max())


def test_instances_without_weight_do_not_bound_the_step():
    model, _ = random_model(4, 2)
    graphs = as_graphs([[1, 2], [2, 1], [1, 1], [1, 2]])
    norms = np.abs(model.X[:, 0] - model.X[:, 1]).sum(axis=1)
    loss = LogLinearLoss(graphs, sample_weight=np.array([1.0, 0, 1, 0]))
    assert_allclose(model.largest_change(loss), norms[0])


def test_root_mean_square():
    model, _ = random_model(20, 3)
    model.X[:, :, 1] *= 1e200
    model.X[:, :, 2] = 0
    share = np.random.default_rng(1).random(20)
    literal = [sum(share[i] * model.X[i, label, 0] ** 2 for i in range(20) for label in range(3)) ** 0.5]
    found = model.root_mean_square(share)
    assert_allclose(found[0], literal[0])
    assert np.isfinite(found).all()
    assert found[2] == 0


def test_fitted_attributes_and_back():
    model, coef = random_model(5, 3)
    estimator = GraphRanker(model="label_features")
    estimator.coef_ = model.attributes(coef)["coef_"]
    np.testing.assert_array_equal(model.coefficients(estimator), coef)
    before = coef.copy()
    coef += 1
    np.testing.assert_array_equal(estimator.coef_, before)


@pytest.mark.parametrize("n_labels", [1, 3])
def test_no_edges(n_labels):
    model, coef = random_model(4, n_labels)
    loss = LogLinearLoss(as_graphs(np.ones((4, n_labels))))
    value, plus, minus = Objective(model, loss).value_and_weights(coef)
    assert value == 0
    assert not plus.any()
    assert not minus.any()
    assert Objective(model, loss).largest_change == 1
