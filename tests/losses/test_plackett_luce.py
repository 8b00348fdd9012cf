"""The Plackett-Luce loss against its choices one after the other, its probabilities, and models that it contains."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import plackett_luce as oracle
from scipy import sparse
from scipy.optimize import approx_fprime
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from strategies import rank_matrices

from labelrank import GraphRanker, PreferenceGraphs, as_graphs
from labelrank.losses import LogLinearLoss, PlackettLuceLoss

NAN = np.nan
SCORES = st.sampled_from([-40.0, -3.0, -1.0, 0.0, 0.5, 2.0, 30.0])


def evaluate(loss, scores, rows=slice(None)):
    """Value, gradient and curvature; the scores are not written to, and all of the output is."""
    scores = np.array(scores, dtype=float)
    before, gradient, curvature = scores.copy(), np.full(scores.shape, NAN), np.full(scores.shape, NAN)
    value = loss.value_and_gradient(scores, gradient, rows)
    loss.curvature(scores, curvature, rows)
    assert loss.value(scores, rows) == value
    np.testing.assert_array_equal(scores, before)
    return value, gradient, curvature


def draw_scores(data, shape, scores=SCORES):
    return np.array(data.draw(st.lists(scores, min_size=math.prod(shape), max_size=math.prod(shape)))).reshape(shape)


def random_ranks(shape, seed=0, missing=0.2):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < missing, NAN, rng.integers(1, 4, shape))


def probability(ranks, scores):
    return math.exp(-PlackettLuceLoss(as_graphs([ranks])).value(scores[None]))


@given(rank_matrices(min_rows=1), st.data())
def test_equals_the_choices_one_after_the_other(ranks, data):
    scores, weight = draw_scores(data, ranks.shape), np.arange(1.0, len(ranks) + 1)
    value, gradient, curvature = evaluate(PlackettLuceLoss(as_graphs(ranks), sample_weight=weight), scores)
    expected = 0.0
    for i, row in enumerate(ranks):
        one, slope, bend = oracle.loss(row, scores[i])
        expected += weight[i] * one
        assert_allclose(gradient[i], (weight[i] * slope).astype(float), rtol=1e-9, atol=1e-13)
        assert_allclose(curvature[i], (weight[i] * bend).astype(float), rtol=1e-7, atol=1e-13)
    assert_allclose(value, float(expected), rtol=1e-12, atol=1e-13)


@given(rank_matrices(min_rows=1, max_rows=3), st.data())
def test_gradient_and_curvature_are_slopes(ranks, data):
    scores = draw_scores(data, ranks.shape, st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0]))
    loss = PlackettLuceLoss(as_graphs(ranks))
    _, gradient, curvature = evaluate(loss, scores)
    slope = approx_fprime(scores.ravel(), lambda f: loss.value(f.reshape(ranks.shape)), 1e-7)
    assert_allclose(gradient.ravel(), slope, atol=1e-5)
    up, down = np.empty(ranks.shape), np.empty(ranks.shape)
    for label in range(ranks.shape[1]):
        step = 1e-6 * np.eye(ranks.shape[1])[label]
        loss.value_and_gradient(scores + step, up)
        loss.value_and_gradient(scores - step, down)
        assert_allclose(curvature[:, label], (up - down)[:, label] / 2e-6, atol=1e-7)


@pytest.mark.parametrize("size", [1e4, 1e8])
def test_huge_scores(size):
    """Finite, and right: the oracle has the precision to follow."""
    rng = np.random.default_rng(0)
    ranks, scores = random_ranks((40, 6)), size * rng.choice([-1.0, 0.0, 0.5, 1.0], (40, 6)) + rng.normal(size=(40, 6))
    value, gradient, curvature = evaluate(PlackettLuceLoss(as_graphs(ranks)), scores)
    literal = [oracle.loss(row, f) for row, f in zip(ranks, scores, strict=True)]
    assert_allclose(value, float(sum(one[0] for one in literal)), rtol=1e-12)
    assert value > size
    assert_allclose(gradient, np.array([one[1] for one in literal], dtype=float), atol=1e-14 * size)
    assert_allclose(curvature, np.array([one[2] for one in literal], dtype=float), atol=1e-14 * size)


def test_blocks_of_rows_add_up():
    ranks, scores = random_ranks((30, 5)), np.random.default_rng(1).normal(size=(30, 5))
    loss = PlackettLuceLoss(as_graphs(ranks), sample_weight=np.linspace(0, 2, 30))
    whole = evaluate(loss, scores)
    parts = [evaluate(loss, scores[rows], rows) for rows in (slice(0, 1), slice(1, 20), slice(20, None))]
    assert_allclose(sum(part[0] for part in parts), whole[0])
    for k in (1, 2):
        assert_allclose(np.vstack([part[k] for part in parts]), whole[k], atol=1e-14)


@given(rank_matrices(min_rows=1), st.data())
def test_a_constant_changes_nothing_and_labels_have_no_order(ranks, data):
    scores = draw_scores(data, ranks.shape, st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0]))
    order = np.array(data.draw(st.permutations(range(ranks.shape[1]))))
    value, gradient, curvature = evaluate(PlackettLuceLoss(as_graphs(ranks)), scores)
    shifted = evaluate(PlackettLuceLoss(as_graphs(ranks)), scores + 5)
    permuted = evaluate(PlackettLuceLoss(as_graphs(ranks[:, order])), scores[:, order])
    assert_allclose([shifted[0], permuted[0]], value, atol=1e-12)
    assert_allclose(gradient.sum(axis=1), 0, atol=1e-12)
    assert_allclose(shifted[1], gradient, atol=1e-12)
    assert_allclose(permuted[1], gradient[:, order], atol=1e-12)
    assert_allclose(permuted[2], curvature[:, order], atol=1e-12)


def test_probabilities_of_all_rankings_sum_to_one():
    scores = np.array([0.5, -2.0, 3.0, 0.1])
    everything = [(ranks, probability(ranks, scores)) for ranks in itertools.permutations((1, 2, 3, 4))]
    assert_allclose(sum(p for _, p in everything), 1)
    # Missing labels are absent: the probability of the others is that of all rankings in which they are so ordered.
    some = sum(p for ranks, p in everything if ranks[3] < ranks[0] < ranks[1])
    assert_allclose(probability([2, 3, NAN, 1], scores), some)
    # A list of the best: the probability of all rankings that begin with them.
    top = sum(p for ranks, p in everything if ranks[1] == 1 and ranks[3] == 2)
    assert_allclose(probability([9, 1, 9, 2], scores), top)


def test_tied_labels_of_one_score_are_chosen_in_any_order():
    """Where Efron's approximation is exact."""
    scores = np.array([1.0, 1.0, 1.0, -0.5, 0.3])
    assert_allclose(probability([2, 2, 2, 3, 1], scores), probability([2, 4, 3, 5, 1], scores))
    assert_allclose(probability([1, 1, 1, 2, 2], scores), probability([3, 2, 1, 4, 4], scores))


def test_one_class_is_the_multinomial_loss():
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(20, 5)), rng.integers(0, 5, 20)
    value, gradient, curvature = evaluate(PlackettLuceLoss(PreferenceGraphs.from_multiclass(y, n_labels=5)), scores)
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert_allclose(value, -np.log(p[np.arange(20), y]).sum())
    assert_allclose(gradient, p - np.eye(5)[y], atol=1e-14)
    assert_allclose(curvature, p * (1 - p))


@pytest.mark.parametrize("alpha", [0.1, 10.0])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_one_class_is_logistic_regression(alpha, form):
    X, y = load_iris(return_X_y=True)
    reference = LogisticRegression(C=1 / alpha, tol=1e-10, max_iter=5000).fit(X, y)
    data = sparse.csr_array(X) if form == "sparse" else X
    ranker = GraphRanker("plackett_luce", alpha=alpha, tol=1e-9).fit(data, PreferenceGraphs.from_multiclass(y))
    assert_allclose(ranker.coef_, reference.coef_, atol=1e-4)
    assert_allclose(ranker.decision_function(data) - reference.decision_function(X), 0, atol=1e-3)


@given(st.integers(2, 6), st.integers(1, 4), st.data())
def test_strict_rankings_are_log_linear_domination(k, n, data):
    """Domination has a star for every label but the last, and the log-linear loss takes their mean."""
    ranks = np.array([data.draw(st.permutations(range(1, k + 1))) for _ in range(n)], dtype=float)
    scores = draw_scores(data, ranks.shape)
    value, gradient, curvature = evaluate(PlackettLuceLoss(as_graphs(ranks)), scores)
    stars, out = LogLinearLoss(as_graphs(ranks), "domination"), np.empty(ranks.shape)
    assert_allclose(value, (k - 1) * stars.value_and_gradient(scores, out), rtol=1e-12, atol=1e-12)
    assert_allclose(gradient, (k - 1) * out, atol=1e-12)
    stars.curvature(scores, out)
    assert_allclose(curvature, (k - 1) * out, atol=1e-12)


def test_layered_graphs_stored_as_edges():
    ranks, scores = random_ranks((20, 4), missing=0), np.random.default_rng(0).normal(size=(20, 4))
    graphs = as_graphs(ranks)
    edges = PreferenceGraphs.from_pairs(*graphs.to_edges(), n_instances=20, n_labels=4)
    assert_allclose(PlackettLuceLoss(edges).value(scores), PlackettLuceLoss(graphs).value(scores))


@pytest.mark.parametrize(
    ("edges", "weight", "message"),
    [
        (([1, 1, 1], [0, 1, 2], [1, 2, 0]), None, r"the graph of instance 1 is not layered \(it has a cycle or lacks"),
        (([0, 0], [0, 1], [1, 2]), None, r"the graph of instance 0 is not layered \(it has a cycle or lacks"),
        (([0], [0], [1]), [2.0], "weighted edges cannot be stored as levels"),
    ],
)
def test_graphs_that_are_not_layered(edges, weight, message):
    graphs = PreferenceGraphs.from_pairs(*edges, weight, n_instances=2, n_labels=3)
    with pytest.raises(ValueError, match=f"the loss 'plackett_luce' needs layered graphs, .*: {message}.*log_linear"):
        GraphRanker("plackett_luce", on_empty="ignore").fit(np.zeros((2, 1)), graphs)


def test_does_not_cut():
    with pytest.raises(ValueError, match="'plackett_luce' does not use a decomposition; leave decomposition at None"):
        PlackettLuceLoss(as_graphs([[1, 2]]), "domination")


def test_weights_of_labels_are_those_of_choix():
    """Without features the intercepts are the logarithms of Plackett-Luce weights; numbers of choix 0.4.1."""
    ranks = [[1, 2, 3, 4], [2, 1, 3, 4], [1, 3, 2, 4], [4, 1, 2, 3], [2, 4, 1, 3], [1, 2, 4, 3], [3, 2, 4, 1]]
    ranker = GraphRanker("plackett_luce", alpha=0.0, tol=1e-12).fit(np.zeros((7, 1)), ranks)
    opt_rankings = [0.48891525, 0.34573066, -0.22565626, -0.60898965]
    assert_allclose(ranker.intercept_ - ranker.intercept_.mean(), opt_rankings, atol=1e-7)


def test_ties_are_those_of_a_proportional_hazards_model():
    """Labels of an instance are a stratum, levels are times, the last is censored; numbers of statsmodels 0.15.0."""
    ranks = [[1, 1, 2, 3], [2, 1, 1, 2], [1, 2, 2, 2], [3, 1, NAN, 2], [1, 1, 1, 2], [2, NAN, 1, 1]]
    H = [
        [[0.5, 1.0], [-1.0, 0.2], [0.0, -0.3], [0.1, 0.7]],
        [[0.2, -0.4], [0.9, 0.0], [-0.6, 0.8], [0.3, 0.3]],
        [[-0.2, 0.5], [0.4, 0.1], [-0.9, -0.6], [0.0, 1.0]],
        [[-0.8, 0.6], [0.7, -0.1], [0.2, 0.2], [-0.3, -0.5]],
        [[0.1, 0.9], [0.6, -0.7], [-0.4, 0.3], [-0.5, 0.2]],
        [[-0.1, -0.2], [0.8, 0.5], [0.3, 0.6], [-0.7, 0.4]],
    ]
    ranker = GraphRanker("plackett_luce", model="label_features", alpha=0.0, tol=1e-12).fit(H, ranks)
    assert_allclose(ranker.coef_, [0.498284003, 0.275463220], atol=1e-7)  # PHReg(ties="efron")
    assert_allclose(-6 * ranker.loss_curve_[-1], -13.449905071584391, rtol=1e-12)
