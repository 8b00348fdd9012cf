"""Predictions, spreads and probabilities of neighborhoods against loops over neighbors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighbors.neighbor_data import AGGREGATIONS, NAN, QUERIES, WEIGHTS, K, battles, edges_of, make, with_pairs
from oracles import mallows as mallows_oracle
from oracles import neighbors as oracle
from scipy.optimize import minimize
from sklearn.neighbors import KNeighborsRegressor
from strategies import rank_matrices

from labelrank import PreferenceGraphs, as_graphs, mask_rankings, ranks_from_scores
from labelrank import aggregation as consensus
from labelrank.metrics import kendall_tau
from labelrank.neighbors import KNeighborsRanker

pytestmark = pytest.mark.filterwarnings("ignore:y has .* without any observed pair:UserWarning")


@pytest.mark.parametrize("kind", ["complete", "tied", "missing"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("k", [1, 2, 30])
def test_center_is_that_of_a_loop(kind, weights, k):
    X, y = with_pairs(*make(kind))
    ranker = KNeighborsRanker(k, weights=weights).fit(X, y)
    expected = [oracle.center(X, y, query, k, weights) for query in QUERIES]
    np.testing.assert_array_equal(ranker.predict(QUERIES), expected)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree", "brute"])
def test_borda_of_complete_rankings_is_the_regression_of_the_ranks(weights, algorithm):
    X, y = make("complete")
    queries = np.vstack([QUERIES, X[:5]])  # distance zero
    mean = KNeighborsRegressor(6, weights=weights, algorithm=algorithm).fit(X, y).predict(queries)
    for aggregation in ("borda", "mallows"):
        ranker = KNeighborsRanker(6, weights=weights, algorithm=algorithm, aggregation=aggregation).fit(X, y)
        predicted = ranker.predict(queries)
        agree = np.sign(mean[:, :, None] - mean[:, None, :]) * np.sign(predicted[:, :, None] - predicted[:, None, :])
        assert (agree[np.abs(mean[:, :, None] - mean[:, None, :]) > 1e-9] > 0).all()
    borda = KNeighborsRanker(6, weights=weights, algorithm=algorithm, aggregation="borda").fit(X, y)
    np.testing.assert_allclose(borda.decision_function(queries), K + 1 - mean)


@pytest.mark.parametrize("y", [make("missing")[1], make("tied")[1], battles()], ids=["missing", "tied", "battles"])
def test_all_rows_as_neighbors_are_the_consensus(y):
    X = make("complete")[0]
    with_pair = as_graphs(y).has_pairs()
    ranker = KNeighborsRanker(int(with_pair.sum()), aggregation="borda").fit(X, y)
    expected = consensus.borda_scores(y[with_pair])
    np.testing.assert_allclose(ranker.decision_function(QUERIES), np.tile(expected, (len(QUERIES), 1)))
    np.testing.assert_array_equal(ranker.predict(QUERIES[:1])[0], consensus.borda(y[with_pair]))


@given(rank_matrices(min_rows=1, max_rows=6, min_labels=2), st.sampled_from(AGGREGATIONS))
def test_any_rankings(y, aggregation):
    X = np.arange(len(y), dtype=float)[:, None]
    ranker = KNeighborsRanker(1, aggregation=aggregation, on_empty="ignore").fit(X, y)
    with_pair = np.fmin.reduce(y, axis=1) < np.fmax.reduce(y, axis=1)
    # One neighbor, which is the row itself: what it prefers is predicted.
    if with_pair.any():
        assert kendall_tau(y[with_pair], ranker.predict(X[with_pair])) == 1
    theta, proba = ranker.predict_spread(X), ranker.pairwise_proba(X)
    assert ((theta >= 0) & (theta <= 10)).all()
    np.testing.assert_allclose(proba + proba.transpose(0, 2, 1), 1)


@pytest.mark.parametrize("kind", ["missing", "missing and tied"])
def test_many_queries_are_predicted_as_one_by_one(kind):
    """For many queries the labels of each row are compared once, for few of them the labels of each neighbor."""
    X, y = make("missing")
    y = np.ceil(y / 2) if kind == "missing and tied" else y
    ranker = KNeighborsRanker(7).fit(X, y)
    one_by_one = [ranker.predict(query[np.newaxis])[0] for query in QUERIES]
    np.testing.assert_array_equal(ranker.predict(QUERIES), one_by_one)


def test_completion_by_hand():
    y = np.array([[1, 2, 3], [1, 2, 3], [NAN, 1, 2], [2, NAN, 1]])
    X = np.zeros((4, 1))
    ranker = KNeighborsRanker(4, aggregation="mallows_completed").fit(X, y)
    np.testing.assert_array_equal(ranker.predict([[0.0]]), [[1, 2, 3]])
    assert not ranker.complete_


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_layered_graphs_are_their_ranks(aggregation):
    X, y = make("missing")
    ranks = KNeighborsRanker(9, aggregation=aggregation).fit(X, y)
    graphs = KNeighborsRanker(9, aggregation=aggregation).fit(X, PreferenceGraphs.from_rankings(y))
    np.testing.assert_allclose(graphs.decision_function(QUERIES), ranks.decision_function(QUERIES))
    np.testing.assert_allclose(graphs.predict_spread(QUERIES), ranks.predict_spread(QUERIES))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_edges_of_rankings_give_the_same_center(weights):
    for kind in ("complete", "missing"):
        X, y = make(kind)
        ranks = KNeighborsRanker(9, weights=weights).fit(X, y)
        edges = KNeighborsRanker(9, weights=weights).fit(X, edges_of(y))
        # Overall orders differ, so only neighborhoods without equal votes can be compared.
        votes = KNeighborsRanker(9, weights=weights, aggregation="borda").fit(X, edges_of(y)).decision_function(QUERIES)
        clear = np.min(np.diff(np.sort(votes, axis=1), axis=1), axis=1) > 1e-9
        assert clear.sum() > 5
        np.testing.assert_array_equal(edges.predict(QUERIES)[clear], ranks.predict(QUERIES)[clear])


@pytest.mark.parametrize("kind", ["complete", "tied", "missing"])
def test_plackett_luce_has_the_largest_likelihood(kind):
    X, y = with_pairs(*make(kind))
    ranker = KNeighborsRanker(12, aggregation="plackett_luce", weights="dudani").fit(X, y)
    for scores, query in zip(ranker.decision_function(QUERIES[:4]), QUERIES, strict=False):
        rows, distances = oracle.neighbors(X, query, 12)
        w = oracle.neighbor_weights(distances, "dudani")
        w *= 12 / w.sum()
        loss = lambda x, rows=rows, w=w: oracle.plackett_luce_loss(x, y[rows], w, 0.1)  # noqa: E731
        best = minimize(loss, np.zeros(K), method="BFGS", options={"gtol": 1e-8})
        assert loss(scores) <= best.fun + 1e-9
        np.testing.assert_allclose(scores, best.x, atol=1e-3)


def test_plackett_luce_of_battles_is_bradley_terry():
    X, y = with_pairs(make("complete")[0], battles())
    ranker = KNeighborsRanker(25, aggregation="plackett_luce").fit(X, y)
    scores = ranker.decision_function(QUERIES[:3])
    for x, query in zip(scores, QUERIES, strict=False):  # the gradient vanishes
        N_ab = y[oracle.neighbors(X, query, 25)[0]].pair_counts()
        p = 1 / (1 + np.exp(x[None, :] - x[:, None]))
        gradient = (N_ab - (N_ab + N_ab.T) * p).sum(axis=1) + 0.1 - 0.2 / (1 + np.exp(-x))
        np.testing.assert_allclose(gradient, 0, atol=1e-6)
    proba = ranker.pairwise_proba(QUERIES[:3])
    np.testing.assert_allclose(proba[0, 0, 1], 1 / (1 + np.exp(scores[0, 1] - scores[0, 0])))


def test_spread_is_the_confidence():
    X, y = make("complete", n=400)
    for masked in (y, mask_rankings(y, 0.4, random_state=0)):
        ranker = KNeighborsRanker(15).fit(X, masked)
        X_new, y_new = make("complete", seed=0, n=400)
        theta = ranker.predict_spread(X_new)
        assert (theta >= 0).all()
        sure = theta > np.median(theta)
        predicted = ranker.predict(X_new)
        assert kendall_tau(y_new[sure], predicted[sure]) > kendall_tau(y_new[~sure], predicted[~sure]) + 0.05


def test_spread_of_complete_rankings_has_the_mean_distance_of_the_neighbors():
    X, y = make("complete")
    ranker = KNeighborsRanker(10).fit(X, y)
    for theta, center, query in zip(ranker.predict_spread(QUERIES), ranker.predict(QUERIES), QUERIES, strict=True):
        tau = np.mean([oracle.tau(y[i], center) for i in oracle.neighbors(X, query, 10)[0]])
        distance = (1 - tau) / 2 * K * (K - 1) / 2
        expected = (K - 1) / np.expm1(theta) - sum(j / np.expm1(j * theta) for j in range(2, K + 1))
        assert expected == pytest.approx(distance)


def test_spread_of_incomplete_rankings_expects_as_many_reversed_pairs_as_there_are():
    X, y = with_pairs(*make("missing"))
    ranker = KNeighborsRanker(15).fit(X, y)
    for theta, center, query in zip(ranker.predict_spread(QUERIES), ranker.predict(QUERIES), QUERIES, strict=True):
        N_ab = oracle.pair_counts(y[oracle.neighbors(X, query, 15)[0]], np.ones(15))
        if 0 < theta < 10:
            reversed_, expected = mallows_oracle.reversed_pairs(N_ab, center, theta)
            assert expected == pytest.approx(reversed_, rel=1e-9)


def test_spread_at_both_ends():
    X = np.zeros((4, 1))
    agree = KNeighborsRanker(4).fit(X, [[1, 2, 3]] * 4)
    assert agree.predict_spread([[0.0]])[0] == 10
    against = KNeighborsRanker(2).fit(X[:2], [[1, 2, 3], [3, 2, 1]])
    assert against.predict_spread([[0.0]])[0] == 0
    np.testing.assert_allclose(against.pairwise_proba([[0.0]]), 0.5)


@pytest.mark.parametrize(
    "y", [make("complete")[1], make("missing")[1], battles()], ids=["complete", "missing", "battles"]
)
def test_probabilities_follow_the_ranking(y):
    X = make("complete")[0]
    for aggregation in AGGREGATIONS:
        ranker = KNeighborsRanker(10, aggregation=aggregation).fit(X, y)
        proba, ranks = ranker.pairwise_proba(QUERIES), ranker.predict(QUERIES)
        if aggregation != "borda":  # shares of single pairs need not agree with the sum of all
            before = ranks[:, :, None] < ranks[:, None, :]
            assert (proba[before] >= 0.5 - 1e-9).all()
        np.testing.assert_allclose(proba + proba.transpose(0, 2, 1), 1)


def test_shares_of_borda():
    ranker = KNeighborsRanker(3, aggregation="borda").fit(np.zeros((3, 1)), [[1, 2, NAN], [1, 2, 3], [2, 1, 3]])
    proba = ranker.pairwise_proba([[0.0]])[0]
    assert proba[0, 1] == pytest.approx(2.5 / 4)
    assert proba[0, 2] == pytest.approx(2.5 / 3)


def test_the_ranks_of_scores_are_predicted():
    X, y = make("missing")
    for aggregation in AGGREGATIONS:
        ranker = KNeighborsRanker(6, aggregation=aggregation).fit(X, y)
        np.testing.assert_array_equal(ranker.predict(QUERIES), ranks_from_scores(ranker.decision_function(QUERIES)))
