"""Weights, distances, kinds of data and errors of KNeighborsRanker."""

import numpy as np
import pytest
from neighbors.neighbor_data import AGGREGATIONS, NAN, QUERIES, WEIGHTS, D, N, battles, make, with_pairs
from oracles import neighbors as oracle
from scipy import sparse
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances

from labelrank import PreferenceGraphs
from labelrank.neighbors import KNeighborsRanker, KNeighborsRankerCV
from labelrank.neighbors.weights import neighbor_weights

pytestmark = pytest.mark.filterwarnings("ignore:y has .* without any observed pair:UserWarning")


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


def test_halved_weights_with_half_the_neighbors():
    """A weight of 1/2 is half a row: 2 k rows are searched."""
    X, y = make("missing")
    plain = KNeighborsRanker(10).fit(X, y)
    half = KNeighborsRanker(5).fit(X, y, sample_weight=np.full(N, 0.5))
    np.testing.assert_array_equal(half.predict(QUERIES), plain.predict(QUERIES))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_rows_of_uneven_weights(weights):
    """As many rows as it takes are searched, and the last one counts in part."""
    X, y = make("complete")
    weight = np.random.default_rng(0).choice([0.01, 0.3, 2.5], N)
    ranker = KNeighborsRanker(6, weights=weights).fit(X, y, sample_weight=weight)
    expected = [oracle.center(X, y, query, 6, weights, weight) for query in QUERIES]
    np.testing.assert_array_equal(ranker.predict(QUERIES), expected)


def test_dudani_counts_the_farthest_not_at_all():
    weights = neighbor_weights("dudani", np.array([[0.0, 1.0, 2.0], [0.5, 0.5, 0.5]]), np.ones((2, 3)))
    np.testing.assert_allclose(weights, [[2, 1, 0], [1, 1, 1]])  # 1, 1/2, 0 scaled to the sum of three


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
    assert len(ranker.rows_) < N  # rows without a pair are no neighbors
    manhattan = KNeighborsRanker(7, p=1).fit(X, y)
    same = KNeighborsRanker(7, metric="manhattan").fit(X, y)
    np.testing.assert_array_equal(manhattan.predict(QUERIES), same.predict(QUERIES))


def test_missing_features():
    X, y = make("complete")
    X[0, 0] = NAN
    KNeighborsRanker(5, metric="nan_euclidean").fit(X, y).predict(X)
    with pytest.raises(ValueError, match="NaN"):
        KNeighborsRanker(5).fit(X, y)


def test_rows_without_a_pair_are_never_neighbors():
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


def test_one_neighbor_and_duplicated_rows():
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


def test_blocks_of_queries_change_nothing():
    X, y = make("complete")
    ranker = KNeighborsRanker(60, weights="dudani").fit(X, y)
    scores = ranker.decision_function(np.tile(QUERIES, (2000, 1)))
    np.testing.assert_array_equal(scores, np.tile(ranker.decision_function(QUERIES), (2000, 1)))


def test_ties_of_many_labels():
    """Equal votes are ordered as over all rows, then by their place in y."""
    rng = np.random.default_rng(0)
    y = np.ceil(np.argsort(rng.random((6, 200)), axis=1) / 8)
    ranker = KNeighborsRanker(2).fit(np.repeat([[0.0], [1.0], [2.0]], 2, axis=0), y)
    votes = -rankdata(y, axis=1)
    order = np.lexsort((np.arange(200), -votes.sum(axis=0), -votes[:2].sum(axis=0)))
    assert ranker.predict([[0.0]])[0, order].tolist() == list(range(1, 201))


def test_errors():
    X, y = make("complete")
    with pytest.raises(NotFittedError):
        KNeighborsRanker().predict(X)
    with pytest.raises(ValueError, match=r"n_neighbors=71, but there are only 70 neighbors .*n_samples=70"):
        KNeighborsRanker(71).fit(X, y)
    with pytest.raises(ValueError, match=r"n_neighbors=20, but there are only 7 neighbors.*total weight"):
        KNeighborsRanker().fit(X, y, sample_weight=np.full(N, 0.1))
    for wrong in (0, 2.5, "many"):
        with pytest.raises(ValueError, match="The 'n_neighbors' parameter of KNeighborsRanker must be an int"):
            KNeighborsRanker(wrong).fit(X, y)
    for name in ("aggregation", "weights", "on_empty", "algorithm", "leaf_size", "p", "metric"):
        with pytest.raises(ValueError, match=f"The '{name}' parameter of KNeighborsRanker must be"):
            KNeighborsRanker(**{name: -1}).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors has no candidates"):
        KNeighborsRankerCV([]).fit(X, y)
    for wrong in ([0, 3], [2.5], ["many"]):
        with pytest.raises(ValueError, match="n_neighbors must be positive integers"):
            KNeighborsRankerCV(wrong).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors=70, but there are only 69"):
        KNeighborsRankerCV([5, 70]).fit(X, y)


@pytest.mark.parametrize("ranker", [KNeighborsRanker(5), KNeighborsRankerCV([3, 5])], ids=str)
def test_a_failed_fit_keeps_the_model(ranker):
    X, y = make("missing")
    ranker = clone(ranker).fit(X, y)
    before, spread = ranker.predict(QUERIES), ranker.predict_spread(QUERIES)
    for X_bad, y_bad in ((np.full((N, 2), NAN), y), (X[:3, :2], make("complete")[1][:3])):
        with pytest.raises(ValueError, match=r"NaN|n_neighbors=\d, but there are only"):
            ranker.fit(X_bad, y_bad)
    np.testing.assert_array_equal(ranker.predict(QUERIES), before)
    np.testing.assert_array_equal(ranker.predict_spread(QUERIES), spread)


@pytest.mark.parametrize("kind", ["complete", "missing"])
def test_y_can_be_reused_after_fit(kind):
    X, y = with_pairs(*make(kind))
    ranker = KNeighborsRanker(5, aggregation="plackett_luce").fit(X, y)
    before = ranker.predict(QUERIES)
    y[:] = 1.0
    np.testing.assert_array_equal(ranker.predict(QUERIES), before)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("algorithm", ["auto", "brute"])
def test_X_can_be_reused_after_fit(form, algorithm):
    X, y = make("complete")
    X = form(X)
    ranker = KNeighborsRanker(5, algorithm=algorithm).fit(X, y)
    before = ranker.predict(QUERIES)
    (X if isinstance(X, np.ndarray) else X.data)[:] = 0.0
    np.testing.assert_array_equal(ranker.predict(QUERIES), before)


def test_entries_in_parts_are_summed():
    X, y = make("complete")
    whole = sparse.csr_array((np.abs(X) * 60).astype(np.int8))
    parts = sparse.csr_array((np.repeat(whole.data, 2), np.repeat(whole.indices, 2), 2 * whole.indptr), whole.shape)
    expected = KNeighborsRanker(5).fit(whole.toarray() * 2.0, y).predict(X)
    np.testing.assert_array_equal(KNeighborsRanker(5).fit(parts, y).predict(X), expected)
    huge = sparse.csr_array((np.full(2, 1e308), np.zeros(2, int), [0, 2, *[2] * (len(y) - 1)]), shape=(len(y), 1))
    with pytest.raises(ValueError, match="infinity"):
        KNeighborsRanker(5).fit(huge, y)


def test_fit_again_with_another_kind_of_y():
    X, y = make("missing")
    ranker = KNeighborsRanker(5)
    for target in (y, battles(), make("complete")[1], y):
        np.testing.assert_array_equal(
            ranker.fit(X, target).predict(QUERIES), clone(ranker).fit(X, target).predict(QUERIES)
        )
