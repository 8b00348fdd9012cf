from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import mallows as mallows_oracle
from oracles import neighbors as oracle
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from strategies import rank_matrices

from labelrank import (
    PreferenceGraphs,
    mask_rankings,
    ranks_from_scores,
)
from labelrank import aggregation as consensus
from labelrank.metrics import kendall_tau
from labelrank.neighbors.ranker import KNeighborsRanker
from labelrank.neighbors.ranker_cv import KNeighborsRankerCV, default_candidates

NAN = float("nan")
N, D, K = 70, 3, 5
AGGREGATIONS = ["mallows", "mallows_completed", "borda", "plackett_luce"]
WEIGHTS = ["uniform", "distance", "dudani"]
pytestmark = pytest.mark.filterwarnings("ignore:y has .* without any observed pair:UserWarning")


def make(kind, seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    scores = X @ rng.standard_normal((D, K)) + 0.7 * rng.standard_normal((n, K))
    y = np.argsort(np.argsort(-scores, axis=1), axis=1) + 1.0
    if kind == "tied":
        y = np.ceil(y / 2)
    if kind == "missing":
        y[rng.random(y.shape) < 0.4] = NAN
    return X, y


def battles(n=N, seed=0):
    """Graphs with cycles and weights."""
    rng = np.random.default_rng(seed)
    i, a, b = (rng.integers(0, high, 6 * n) for high in (n, K, K))
    keep = a != b
    return PreferenceGraphs.from_pairs(
        i[keep], a[keep], b[keep], 1.0 + rng.integers(0, 3, keep.sum()), n_instances=n, n_labels=K,
        conflicts="keep_majority",
    )  # fmt: skip


def edges_of(y):
    edges = PreferenceGraphs.from_rankings(y).to_edges()
    return PreferenceGraphs.from_pairs(*edges, n_instances=len(y), n_labels=y.shape[1])


QUERIES = np.random.default_rng(9).standard_normal((15, D))


# --- What is predicted


@pytest.mark.parametrize("kind", ["complete", "tied", "missing"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("k", [1, 2, 7, 30])
def test_centre_is_that_of_a_loop(kind, weights, k):
    X, y = make(kind)
    y = y[np.array([np.nanmin(row) < np.nanmax(row) for row in y])] if kind == "missing" else y
    X = X[: len(y)]
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
def test_all_rows_as_neighbours_are_the_consensus(y):
    X = make("complete")[0]
    with_pair = (
        PreferenceGraphs.from_rankings(y).edge_counts() > 0 if isinstance(y, np.ndarray) else y.edge_counts() > 0
    )
    ranker = KNeighborsRanker(int(with_pair.sum()), aggregation="borda").fit(X, y)
    expected = consensus.borda_scores(y[with_pair])
    np.testing.assert_allclose(ranker.decision_function(QUERIES), np.tile(expected, (len(QUERIES), 1)))
    np.testing.assert_array_equal(ranker.predict(QUERIES[:1])[0], consensus.borda(y[with_pair]))


@given(rank_matrices(min_rows=1, max_rows=6, min_labels=2), st.sampled_from(AGGREGATIONS))
def test_any_rankings(y, aggregation):
    X = np.arange(len(y), dtype=float)[:, None]
    ranker = KNeighborsRanker(1, aggregation=aggregation, on_empty="ignore").fit(X, y)
    with_pair = np.fmin.reduce(y, axis=1) < np.fmax.reduce(y, axis=1)
    # One neighbour, which is the row itself: what it prefers is predicted.
    if with_pair.any():
        assert kendall_tau(y[with_pair], ranker.predict(X[with_pair])) == 1
    theta, proba = ranker.predict_spread(X), ranker.pairwise_proba(X)
    assert ((theta >= 0) & (theta <= 10)).all()
    np.testing.assert_allclose(proba + proba.transpose(0, 2, 1), 1)


def test_completion_by_hand():
    y = np.array([[1, 2, 3], [1, 2, 3], [NAN, 1, 2], [2, NAN, 1]])
    X = np.zeros((4, 1))
    ranker = KNeighborsRanker(4, aggregation="mallows_completed").fit(X, y)
    np.testing.assert_array_equal(ranker.predict([[0.0]]), [[1, 2, 3]])
    assert ranker.storage_ == "incomplete"


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_layered_graphs_are_their_ranks(aggregation):
    X, y = make("missing")
    ranks = KNeighborsRanker(9, aggregation=aggregation).fit(X, y)
    graphs = KNeighborsRanker(9, aggregation=aggregation).fit(X, PreferenceGraphs.from_rankings(y))
    np.testing.assert_allclose(graphs.decision_function(QUERIES), ranks.decision_function(QUERIES))
    np.testing.assert_allclose(graphs.predict_spread(QUERIES), ranks.predict_spread(QUERIES))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_edges_of_rankings_give_the_same_centre(weights):
    for kind in ("complete", "missing"):
        X, y = make(kind)
        ranks = KNeighborsRanker(9, weights=weights).fit(X, y)
        edges = KNeighborsRanker(9, weights=weights).fit(X, edges_of(y))
        assert edges.storage_ == "edges"
        # Overall orders differ, so only neighbourhoods without equal votes can be compared.
        votes = ranks._votes(*ranks._neighborhoods(QUERIES))
        clear = np.min(np.diff(np.sort(votes, axis=1), axis=1), axis=1) > 1e-9
        assert clear.sum() > 5
        np.testing.assert_array_equal(edges.predict(QUERIES)[clear], ranks.predict(QUERIES)[clear])


@pytest.mark.parametrize("kind", ["complete", "tied", "missing"])
def test_plackett_luce_has_the_largest_likelihood(kind):
    X, y = make(kind)
    ranker = KNeighborsRanker(12, aggregation="plackett_luce", weights="dudani").fit(X, y)
    neighbors, weights = ranker._neighborhoods(QUERIES[:4])
    np.testing.assert_allclose(weights.sum(axis=1), 12)
    for scores, rows, w in zip(ranker.decision_function(QUERIES[:4]), neighbors, weights, strict=True):
        loss = lambda x, rows=rows, w=w: oracle.plackett_luce_loss(x, ranker.ranks_[rows], w, 0.1)  # noqa: E731
        best = minimize(loss, np.zeros(K), method="BFGS", options={"gtol": 1e-8})
        assert loss(scores) <= best.fun + 1e-9
        np.testing.assert_allclose(scores, best.x, atol=1e-3)


def test_plackett_luce_of_battles_is_bradley_terry():
    X = make("complete")[0]
    ranker = KNeighborsRanker(25, aggregation="plackett_luce").fit(X, battles())
    scores = ranker.decision_function(QUERIES[:3])
    counts = ranker._counts(*ranker._neighborhoods(QUERIES[:3]))
    for x, N_ab in zip(scores, counts, strict=True):  # the gradient vanishes
        p = 1 / (1 + np.exp(x[None, :] - x[:, None]))
        gradient = (N_ab - (N_ab + N_ab.T) * p).sum(axis=1) + 0.1 - 0.2 / (1 + np.exp(-x))
        np.testing.assert_allclose(gradient, 0, atol=1e-6)
    proba = ranker.pairwise_proba(QUERIES[:3])
    np.testing.assert_allclose(proba[0, 0, 1], 1 / (1 + np.exp(scores[0, 1] - scores[0, 0])))


# --- Spread and probabilities


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


def test_spread_of_complete_rankings_has_the_mean_distance_of_the_neighbours():
    X, y = make("complete")
    ranker = KNeighborsRanker(10).fit(X, y)
    neighbors, _ = ranker._neighborhoods(QUERIES)
    for theta, center, rows in zip(ranker.predict_spread(QUERIES), ranker.predict(QUERIES), neighbors, strict=True):
        tau = np.mean([oracle.tau(y[i], center) for i in rows])
        distance = (1 - tau) / 2 * K * (K - 1) / 2
        expected = (K - 1) / np.expm1(theta) - sum(j / np.expm1(j * theta) for j in range(2, K + 1))
        assert expected == pytest.approx(distance)


def test_spread_of_incomplete_rankings_expects_as_many_reversed_pairs_as_there_are():
    X, y = make("missing")
    ranker = KNeighborsRanker(15).fit(X, y)
    counts = ranker._counts(*ranker._neighborhoods(QUERIES))
    for theta, center, N_ab in zip(ranker.predict_spread(QUERIES), ranker.predict(QUERIES), counts, strict=True):
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


# --- Weights, distances, data


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("weights", [*WEIGHTS, lambda d: np.exp(-d)], ids=[*WEIGHTS, "callable"])
@pytest.mark.parametrize("y", [make("missing")[1], battles()], ids=["missing", "battles"])
def test_a_weight_is_a_number_of_rows(aggregation, weights, y):
    X = make("complete")[0]
    weight = np.random.default_rng(3).integers(0, 4, N)
    rows = np.repeat(np.arange(N), weight)
    repeated = y[rows] if isinstance(y, np.ndarray) else PreferenceGraphs.concatenate([y[int(i)] for i in rows])
    ours = KNeighborsRanker(8, aggregation=aggregation, weights=weights).fit(X, y, sample_weight=weight)
    theirs = KNeighborsRanker(8, aggregation=aggregation, weights=weights).fit(X[rows], repeated)
    np.testing.assert_allclose(ours.decision_function(QUERIES), theirs.decision_function(QUERIES), atol=1e-7)
    np.testing.assert_allclose(ours.predict_spread(QUERIES), theirs.predict_spread(QUERIES), atol=1e-7)


def test_halved_weights_with_half_the_neighbours():
    """A weight of 1/2 is half a row: 2 k rows are searched."""
    X, y = make("missing")
    plain = KNeighborsRanker(10).fit(X, y)
    half = KNeighborsRanker(5).fit(X, y, sample_weight=np.full(N, 0.5))
    np.testing.assert_array_equal(half.predict(QUERIES), plain.predict(QUERIES))
    rng = np.random.default_rng(0)
    weight = rng.choice([0.01, 0.3, 2.5], N)
    uneven = KNeighborsRanker(6).fit(X, y, sample_weight=weight)
    _, _, share = uneven._search(QUERIES, 6)
    assert (share.sum(axis=1) >= 6).all()
    np.testing.assert_allclose(uneven._neighborhoods(QUERIES)[1].sum(axis=1), 6)


def test_dudani_counts_the_farthest_not_at_all():
    X = np.array([[0.0], [1.0], [2.0]])
    y = [[1, 2], [1, 2], [2, 1]]
    _, weights = KNeighborsRanker(3, weights="dudani").fit(X, y)._neighborhoods([[0.0]])
    np.testing.assert_allclose(weights, [[2, 1, 0]])  # 1, 1/2, 0 scaled to the sum of three
    _, equal = KNeighborsRanker(2, weights="dudani").fit(X, y)._neighborhoods([[0.5]])
    np.testing.assert_allclose(equal, [[1, 1]])


def test_callable_weights():
    X, y = make("missing")
    ours = KNeighborsRanker(7, weights=lambda d: 1 / d).fit(X, y)
    np.testing.assert_array_equal(
        ours.predict(QUERIES), KNeighborsRanker(7, weights="distance").fit(X, y).predict(QUERIES)
    )
    nothing = KNeighborsRanker(7, weights=np.zeros_like).fit(X, y)  # the order over all rows is what is left
    np.testing.assert_array_equal(nothing.predict(QUERIES[:1])[0], nothing.overall_ranks_)
    assert nothing.predict_spread(QUERIES[:1])[0] == 0
    with pytest.raises(ValueError, match="weights returned a number that is negative"):
        KNeighborsRanker(7, weights=lambda d: -d).fit(X, y).predict(QUERIES)
    with pytest.raises(ValueError, match=r"weights returned an array of shape \(15,\)"):
        KNeighborsRanker(7, weights=lambda d: d[:, 0]).fit(X, y).predict(QUERIES)


def test_sparse_and_precomputed_distances():
    X, y = make("missing")
    expected = KNeighborsRanker(7, weights="distance").fit(X, y).decision_function(QUERIES)
    for form in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        found = KNeighborsRanker(7, weights="distance").fit(form(X), y)
        np.testing.assert_allclose(found.decision_function(form(QUERIES)), expected)
    ranker = KNeighborsRanker(7, weights="distance", metric="precomputed").fit(pairwise_distances(X), y)
    np.testing.assert_allclose(ranker.decision_function(pairwise_distances(QUERIES, X)), expected)
    assert len(ranker.rows_) < N  # rows without a pair are no neighbours
    manhattan = KNeighborsRanker(7, p=1).fit(X, y)
    same = KNeighborsRanker(7, metric="manhattan").fit(X, y)
    np.testing.assert_array_equal(manhattan.predict(QUERIES), same.predict(QUERIES))


def test_missing_features():
    X, y = make("complete")
    X[0, 0] = NAN
    KNeighborsRanker(5, metric="nan_euclidean").fit(X, y).predict(X)
    with pytest.raises(ValueError, match="NaN"):
        KNeighborsRanker(5).fit(X, y)


def test_rows_without_a_pair_are_nobodys_neighbours():
    X = np.arange(5.0)[:, None]
    y = [[1, 2, 3], [NAN, NAN, 1], [1, 1, 1], [NAN, NAN, NAN], [3, 2, 1]]
    with pytest.warns(UserWarning, match="y has 3 rows without any observed pair"):
        ranker = KNeighborsRanker(1).fit(X, y)
    assert ranker.rows_.tolist() == [0, 4]
    np.testing.assert_array_equal(ranker.predict(X), [[1, 2, 3]] * 2 + [[1, 2, 3]] + [[3, 2, 1]] * 2)
    with pytest.raises(ValueError, match="y has 3 rows"):
        KNeighborsRanker(1, on_empty="error").fit(X, y)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_nothing_to_learn(aggregation):
    X = np.arange(6.0)[:, None]
    for y in (np.ones((6, 1)), np.full((6, 3), NAN), np.ones((6, 3))):
        ranker = KNeighborsRanker(3, aggregation=aggregation, on_empty="ignore").fit(X, y)
        assert ranker.predict(X).shape == y.shape
        if aggregation in ("borda", "plackett_luce"):
            assert (ranker.predict(X) == 1).all()
    chosen = KNeighborsRankerCV(on_empty="ignore").fit(X[:1], [[1, 2]])
    assert chosen.n_neighbors_ == 1
    assert np.isnan(chosen.best_score_)


def test_one_neighbour_and_duplicated_rows():
    X = np.zeros((30, 2))
    y = np.tile([[1.0, 2.0, 3.0]], (30, 1))
    for weights in WEIGHTS:
        ranker = KNeighborsRankerCV([1, 5, 20], weights=weights).fit(X, y)
        assert (ranker.predict(X) == [1, 2, 3]).all()
        assert ranker.best_score_ == 1


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_threads_change_nothing(aggregation):
    X, y = make("missing")
    queries = np.random.default_rng(0).standard_normal((900, D))
    one = KNeighborsRanker(7, aggregation=aggregation).fit(X, y)
    two = KNeighborsRanker(7, aggregation=aggregation, n_jobs=2).fit(X, y)
    for method in ("predict", "decision_function", "pairwise_proba", "predict_spread"):
        np.testing.assert_array_equal(getattr(one, method)(queries), getattr(two, method)(queries))


def test_errors():
    X, y = make("complete")
    with pytest.raises(NotFittedError):
        KNeighborsRanker().predict(X)
    with pytest.raises(ValueError, match=r"n_neighbors=71, but there are only 70 neighbours .*n_samples=70"):
        KNeighborsRanker(71).fit(X, y)
    with pytest.raises(ValueError, match=r"n_neighbors=20, but there are only 7 neighbours.*total weight"):
        KNeighborsRanker().fit(X, y, sample_weight=np.full(N, 0.1))
    for wrong in (0, 2.5, "many", True):
        with pytest.raises(ValueError, match="n_neighbors must be a positive integer"):
            KNeighborsRanker(wrong).fit(X, y)
    with pytest.raises(ValueError, match="aggregation must be one of"):
        KNeighborsRanker(aggregation="mean").fit(X, y)
    with pytest.raises(ValueError, match="weights must be"):
        KNeighborsRanker(weights="near").fit(X, y)
    with pytest.raises(ValueError, match="on_empty must be"):
        KNeighborsRanker(on_empty="drop").fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors has no candidates"):
        KNeighborsRankerCV([]).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors=70, but there are only 69"):
        KNeighborsRankerCV([5, 70]).fit(X, y)


def test_fit_again_with_another_kind_of_y():
    X, y = make("missing")
    ranker = KNeighborsRanker(5)
    for target in (y, battles(), make("complete")[1], y):
        np.testing.assert_array_equal(
            ranker.fit(X, target).predict(QUERIES), clone(ranker).fit(X, target).predict(QUERIES)
        )


# --- The number of neighbours


@pytest.mark.parametrize("kind", ["complete", "tied", "missing", "battles"])
@pytest.mark.parametrize("weights", [*WEIGHTS, lambda d: 1 / (1 + d / (0.1 + d[:, -1:]))], ids=[*WEIGHTS, "callable"])
@pytest.mark.parametrize("aggregation", ["mallows", "borda"])
def test_scores_of_a_loop_that_fits_again(kind, weights, aggregation):
    X, y = make("complete", n=22)[0], battles(22) if kind == "battles" else make(kind, n=22)[1]
    if kind != "battles":
        X[5], y[5] = X[6], y[6]  # distance zero; the same y, since either may be the last of the k neighbours of others
    candidates = [1, 4, 11]
    ranker = KNeighborsRankerCV(candidates, weights=weights, aggregation=aggregation).fit(X, y)
    np.testing.assert_allclose(ranker.cv_scores_, literal_scores(ranker, X, y), atol=1e-12)
    assert ranker.n_neighbors_ == candidates[int(np.argmax(ranker.cv_scores_ >= ranker.cv_scores_.max() - 1e-10))]
    assert ranker.best_score_ == ranker.cv_scores_.max()


@pytest.mark.parametrize("aggregation", ["mallows_completed", "plackett_luce"])
@pytest.mark.parametrize("kind", ["complete", "missing"])
def test_scores_of_a_loop_without_sums(aggregation, kind):
    X, y = make(kind, n=22)
    ranker = KNeighborsRankerCV([1, 4, 10], aggregation=aggregation, weights="dudani").fit(X, y)
    np.testing.assert_allclose(ranker.cv_scores_, literal_scores(ranker, X, y), atol=1e-12)


def literal_scores(ranker, X, y):
    """Leave one row out, fit, predict it; for each candidate."""
    params = {name: value for name, value in ranker.get_params().items() if name != "n_neighbors"}
    n = len(X)
    scores = []
    for k in ranker.candidates_:
        taus = []
        for i in ranker.rows_:
            others = np.delete(np.arange(n), i)
            fitted = KNeighborsRanker(int(k), **params).fit(X[others], y[others])
            taus.append(kendall_tau(y[[i]], fitted.predict(X[[i]])))
        scores.append(np.mean(taus))
    return np.array(scores)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", ["complete", "missing"])
def test_the_chosen_number_with_weights_is_that_of_repeated_rows(weights, kind):
    X, y = make(kind)
    weight = np.random.default_rng(1).integers(0, 4, N)
    ours = KNeighborsRankerCV(weights=weights).fit(X, y, sample_weight=weight)
    theirs = KNeighborsRankerCV(weights=weights).fit(*oracle.repeat_rows(X, y, weight))
    np.testing.assert_array_equal(ours.candidates_, theirs.candidates_)
    np.testing.assert_allclose(ours.cv_scores_, theirs.cv_scores_, atol=1e-12)
    assert ours.n_neighbors_ == theirs.n_neighbors_


def test_it_then_is_the_ranker_with_that_number():
    X, y = make("missing")
    chosen = KNeighborsRankerCV(weights="dudani").fit(X, y)
    plain = KNeighborsRanker(chosen.n_neighbors_, weights="dudani").fit(X, y)
    for method in ("predict", "decision_function", "pairwise_proba", "predict_spread"):
        np.testing.assert_array_equal(getattr(chosen, method)(QUERIES), getattr(plain, method)(QUERIES))


def test_candidates():
    assert default_candidates(0).tolist() == [1]
    assert default_candidates(4).tolist() == [1, 2, 3, 4]
    assert (np.diff(default_candidates(10_000)) > 0).all()
    X, y = make("complete")
    assert KNeighborsRankerCV([9, 3, 3]).fit(X, y).candidates_.tolist() == [3, 9]
    assert KNeighborsRankerCV(4).fit(X, y).n_neighbors_ == 4


def test_in_a_search():
    X, y = make("missing", n=120)
    search = GridSearchCV(
        KNeighborsRanker(), {"n_neighbors": [3, 10, 30], "weights": ["uniform", "dudani"]}, cv=KFold(4)
    ).fit(X, y)
    assert search.best_score_ > 0.4
    assert cross_val_score(KNeighborsRankerCV(), X, y, cv=KFold(4)).mean() > 0.4
    distances = pairwise_distances(X)
    scores = cross_val_score(KNeighborsRanker(10, metric="precomputed"), distances, y, cv=KFold(4))
    np.testing.assert_allclose(scores, cross_val_score(KNeighborsRanker(10), X, y, cv=KFold(4)))


def test_the_ranks_of_scores_are_predicted():
    X, y = make("missing")
    for aggregation in AGGREGATIONS:
        ranker = KNeighborsRanker(6, aggregation=aggregation).fit(X, y)
        np.testing.assert_array_equal(ranker.predict(QUERIES), ranks_from_scores(ranker.decision_function(QUERIES)))


def test_fractional_weights_that_just_reach_a_candidate():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(21, 2)), np.array([rng.permutation(3) + 1.0 for _ in range(21)])
    weight = np.r_[1.0, np.full(10, 0.1), np.ones(10)]
    candidates = list(range(1, 12))
    model = KNeighborsRankerCV(candidates).fit(X, y, sample_weight=weight)
    assert np.isfinite(model.cv_scores_).all()
    assert model.best_score_ == model.cv_scores_.max()
    slow = KNeighborsRankerCV(candidates, aggregation="mallows_completed").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.cv_scores_, slow.cv_scores_)


@pytest.mark.parametrize("ranker", [KNeighborsRanker(2), KNeighborsRankerCV([1, 2])], ids=str)
def test_no_row_with_a_pair_is_reported(ranker):
    X, y = np.arange(5.0)[:, np.newaxis], np.full((5, 3), np.nan)
    with pytest.raises(ValueError, match="y has 5 rows without any observed pair"):
        clone(ranker).set_params(on_empty="error").fit(X, y)
    with pytest.warns(UserWarning, match="y has 5 rows without any observed pair"):
        clone(ranker).fit(X, y)
