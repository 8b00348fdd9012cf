"""Linear models: scores and their adjoint, the two weights of boosting, and the sizes that solvers ask for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import log_linear as oracle
from rankers.minimizers import in_parts
from scipy import sparse
from strategies import rank_matrices

from labelrank import LogLinearRanker, as_graphs
from labelrank.losses import CoveringLoss, LogLinearLoss
from labelrank.models import LinearModel

FORMS = {"dense": np.asarray, "csr": sparse.csr_array, "parts": in_parts}
VALUES = st.sampled_from([-2.0, -0.5, 0.0, 0.0, 0.3, 1.0])

every_form = pytest.mark.parametrize("form", FORMS)
both_intercepts = pytest.mark.parametrize("fit_intercept", [True, False])


def with_ones(X, fit_intercept):
    return np.hstack([X, np.ones((len(X), 1))]) if fit_intercept else X


def draw_features(data, n, d=2):
    return np.array(data.draw(st.lists(VALUES, min_size=n * d, max_size=n * d))).reshape(n, d)


@given(st.integers(1, 6), st.integers(1, 4), st.sampled_from(sorted(FORMS)), st.booleans(), st.data())
def test_adjoint(n, k, form, fit_intercept, data):
    """⟨scores(coef), G⟩ = ⟨coef, adjoint(G)⟩, and scores are X @ coef."""
    X, rng = draw_features(data, n), np.random.default_rng(0)
    model = LinearModel(FORMS[form](X), k, fit_intercept=fit_intercept)
    start = data.draw(st.integers(0, n - 1))
    rows = slice(start, data.draw(st.integers(start, n)))
    coef = rng.normal(size=model.coef_shape)
    scores = model.scores(coef, rows)
    assert_allclose(scores, with_ones(X[rows], fit_intercept) @ coef, atol=1e-12)
    G, total = rng.normal(size=scores.shape), rng.normal(size=model.coef_shape)
    before = total.copy()
    model.add_gradient(rows, G, total)
    assert_allclose(np.vdot(scores, G), np.vdot(coef, total - before), atol=1e-12)


@every_form
@both_intercepts
@pytest.mark.parametrize("sign", [1.0, -1.0, 0.0])
@settings(max_examples=6)
@given(ranks=rank_matrices(min_rows=1, max_labels=4))
def test_the_weights_of_boosting(form, fit_intercept, sign, ranks):
    """Sums over the edges of q·[π]₊ and q·[−π]₊; their difference is the gradient."""
    n, k = ranks.shape
    X = np.random.default_rng(1).normal(size=(n, 2))
    X = sign * np.abs(X) if sign else X
    loss = LogLinearLoss(as_graphs(ranks), "disagreement", np.arange(1.0, n + 1))
    model = LinearModel(FORMS[form](X), k, fit_intercept=fit_intercept)
    coef = np.random.default_rng(0).normal(size=model.coef_shape)
    plus, minus = np.zeros(coef.shape), np.zeros(coef.shape)
    value = model.add_weights(loss, coef, slice(0, n), plus, minus)
    edges = loss.edge_flows(with_ones(X, fit_intercept) @ coef)
    h = oracle.block_features(X, k, fit_intercept)
    change = h[edges.row, edges.worse] - h[edges.row, edges.better]
    assert_allclose(value, edges.value, atol=1e-12)
    assert_allclose(plus.ravel(), edges.flow @ np.maximum(change, 0), atol=1e-12)
    assert_allclose(minus.ravel(), edges.flow @ np.maximum(-change, 0), atol=1e-12)
    scores, gradient, total = model.scores(coef, slice(0, n)), np.empty((n, k)), np.zeros(coef.shape)
    loss.value_and_gradient(scores, gradient)
    model.add_gradient(slice(0, n), gradient, total)
    assert_allclose(plus - minus, total, atol=1e-12)


@every_form
@both_intercepts
def test_largest_change(form, fit_intercept):
    """The largest 1-norm of a change along an edge, of the instances that count."""
    X = np.array([[1.0, -2.0], [0.5, 0.5], [7.0, 7.0], [-9.0, 9.0]])
    graphs = as_graphs([[1, 2], [2, 1], [1, 1], [1, 2]])
    model = LinearModel(FORMS[form](X), 2, fit_intercept=fit_intercept)
    loss = LogLinearLoss(graphs, sample_weight=np.array([1.0, 1, 1, 0]))
    assert model.largest_change(loss) == 2 * (3 + fit_intercept)  # the features of both labels change
    sets = CoveringLoss(graphs[:2])
    assert LinearModel(FORMS[form](X[:2]), 2, fit_intercept=fit_intercept).largest_change(sets) == 3 + fit_intercept
    nothing = LogLinearLoss(graphs, sample_weight=np.zeros(4))
    assert model.largest_change(nothing) > 0


@every_form
@both_intercepts
def test_root_mean_square(form, fit_intercept):
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 1e200, 0.0]
    share = np.random.default_rng(1).random(30) / 15
    found = LinearModel(FORMS[form](X), 2, fit_intercept=fit_intercept).root_mean_square(share)
    expected = np.array([1.0, 1e200, 0.0]) * np.sqrt(share @ (X / [1.0, 1e200, 1.0]) ** 2)
    assert_allclose(found, np.append(expected, [1.0] * fit_intercept))


@every_form
@both_intercepts
def test_fitted_attributes_and_back(form, fit_intercept):
    model = LinearModel(FORMS[form](np.eye(3)), 4, fit_intercept=fit_intercept)
    coef = np.random.default_rng(0).normal(size=model.coef_shape)
    attributes = model.attributes(coef)
    assert attributes["coef_"].shape == (4, 3)
    assert attributes["intercept_"].any() == fit_intercept
    estimator = LogLinearRanker()
    for name, value in attributes.items():
        setattr(estimator, name, value)
    np.testing.assert_array_equal(model.coefficients(estimator), coef)
    expected = coef.copy()
    coef += 1  # a solver may go on with the array
    np.testing.assert_array_equal(model.coefficients(estimator), expected)


def test_the_matrix_of_the_caller_is_not_changed():
    parts = in_parts(np.eye(3))
    LinearModel(parts, 2)
    assert parts.nnz == 6
