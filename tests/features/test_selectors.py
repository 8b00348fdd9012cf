"""The choice of terms against the literal formulas, scikit-learn's centroids and closed forms."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import decompositions as cuts
from oracles import features as oracle
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestCentroid
from strategies import edge_rows, graphs_of, rank_matrices

from labelrank import LogLinearRanker, PreferenceGraphs, as_graphs
from labelrank.datasets import make_label_ranking, make_multilabel_hierarchy
from labelrank.features import BoostingSelector, RocchioSelector

VALUES = st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0, -1.25])


def matrices(data, n, d, values=VALUES):
    return np.array(data.draw(st.lists(values, min_size=n * d, max_size=n * d)), dtype=float).reshape(n, d)


def edges_of(graphs):
    return [list(zip(*(a.tolist() for a in row.to_edges()[1:]), strict=True)) for row in graphs]


# ---------------------------------------------------------------------------------------------------------------
# Rocchio
# ---------------------------------------------------------------------------------------------------------------


@given(st.data(), st.integers(1, 6), st.integers(1, 5), st.integers(1, 3), st.integers(1, 6), st.booleans())
def test_rocchio_equals_the_formula(data, n, d, n_labels, k, as_sparse):
    X = matrices(data, n, d)
    Y = matrices(data, n, n_labels, st.sampled_from([0.0, 1.0, 1.0, 0.0, np.nan]))
    levels = np.where(np.isnan(Y), -1, 1 - Y)
    expected = oracle.rocchio(X.tolist(), levels.tolist())
    selector = RocchioSelector(k)
    if not np.max(expected) > 1e-12:
        return
    selector.fit(sparse.csr_array(X) if as_sparse else X, Y)
    assert_allclose(selector.scores_, expected, rtol=1e-12, atol=1e-12)
    # The choice is checked on the scores that were found: rounding may break a tie of the literal sums.
    assert_array_equal(selector.get_support(indices=True), oracle.rocchio_choice(selector.scores_.tolist(), k))


def test_rocchio_scores_are_distances_of_centroids():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.7, (60, 12)).astype(float)
    y = rng.integers(3, size=60)
    scores = RocchioSelector().fit(sparse.csr_array(X), y).scores_
    for label in range(3):
        others, those = NearestCentroid().fit(X, y == label).centroids_
        assert_allclose(scores[label], np.maximum(0, 16 * those - 4 * others), atol=1e-12)


X3 = np.array([[1.0, 0, 2], [1, 1, 0], [1, 0, 0]])
SETS = [{0}, {1}, {0, 1}]
INDICATOR = np.array([[1, 0], [0, 1], [1, 1]])


@pytest.mark.parametrize(
    "y",
    [
        INDICATOR,
        INDICATOR.tolist(),
        INDICATOR.astype(bool),
        INDICATOR.astype(float),
        sparse.csr_array(INDICATOR),
        sparse.csc_matrix(INDICATOR),
        sparse.coo_array(INDICATOR.astype(bool)),
        pd.DataFrame(INDICATOR),
        SETS,
        tuple(map(frozenset, SETS)),
        PreferenceGraphs.from_multilabel(INDICATOR),
    ],
    ids=lambda y: type(y).__name__,
)
def test_relevant_labels_in_every_form(y):
    found = RocchioSelector(1).fit(X3, y)
    assert_allclose(found.scores_, oracle.rocchio(X3.tolist(), (1 - INDICATOR).tolist()))


@pytest.mark.parametrize(
    "y",
    [
        ["law", "tax", "law"],
        np.array(["law", "tax", "law"]),
        np.array(["law", "tax", "law"], dtype=object),
        pd.Series(["law", "tax", "law"]),
        [{"law"}, {"tax"}, {"law"}],
        PreferenceGraphs.from_multiclass(["law", "tax", "law"]),
    ],
    ids=lambda y: type(y).__name__,
)
def test_classes_and_names(y):
    found = RocchioSelector(1).fit(X3, y)
    assert found.labels_.tolist() == ["law", "tax"]
    assert_allclose(found.scores_, oracle.rocchio(X3.tolist(), [[0, 1], [1, 0], [0, 1]]))


def test_an_unknown_class_counts_for_nothing():
    found = RocchioSelector(1).fit(X3, ["law", "tax", None])
    assert_allclose(found.scores_, RocchioSelector(1).fit(X3[:2], ["law", "tax"]).scores_)


def test_level_zero_of_a_hierarchy_is_relevant():
    X, Y, parents = make_multilabel_hierarchy(80, 40, n_labels=8, random_state=0)
    graphs = PreferenceGraphs.from_hierarchy(Y, parents, n_layers=3)
    assert graphs.levels.max() == 2
    found = RocchioSelector(5).fit(X, graphs)
    known = graphs.levels.min(axis=1) >= 0
    indicator = (graphs.levels == 0).astype(int)
    assert_allclose(found.scores_, RocchioSelector(5).fit(X[known], indicator[known]).scores_, atol=1e-12)


def test_graphs_stored_as_edges():
    graphs = PreferenceGraphs.from_pairs([0, 1], [0, 1], [1, 0], n_instances=2)
    assert_allclose(RocchioSelector(1).fit(X3[:2], graphs).scores_, RocchioSelector(1).fit(X3[:2], [0, 1]).scores_)
    cycle = PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0])
    with pytest.raises(ValueError, match="the graph of instance 0 is not layered"):
        RocchioSelector(1).fit(X3[:1], cycle)


def test_a_label_without_relevant_documents_chooses_nothing():
    X = np.array([[1.0, -1, 0], [0, -1, 0]])  # its second term would be positive: minus the mean of negative numbers
    found = RocchioSelector(3).fit(X, [[1, 0], [0, 0]])
    assert_array_equal(found.scores_[1], 0)
    assert_array_equal(found.get_support(), [True, False, False])


def test_a_label_that_is_relevant_everywhere():
    found = RocchioSelector(3).fit(X3, np.ones((3, 1)))
    assert_allclose(found.scores_, [16 * X3.mean(axis=0)])


def test_a_constant_term_has_its_place():
    # 16c - 4c for every label: kept as long as no better terms fill the list.
    found = RocchioSelector(1).fit(X3[:2], [0, 1])
    assert_allclose(found.scores_[:, 0], 12)
    assert_array_equal(found.get_support(), [False, True, True])


def test_ties_go_to_the_lowest_index():
    X = np.array([[1.0, 2, 2, 2, 1], [0, 0, 0, 0, 0]])
    assert_array_equal(RocchioSelector(2).fit(X, [1, 0]).get_support(indices=True), [1, 2])
    assert_array_equal(RocchioSelector(4).fit(X, [1, 0]).get_support(indices=True), [0, 1, 2, 3])


def test_more_terms_than_there_are():
    found = RocchioSelector(1000).fit(sparse.csr_array([[1.0, 0, 0], [0, 2, 0]]), [0, 1])
    assert_array_equal(found.get_support(), [True, True, False])  # the empty column has score 0


def test_scores_are_exactly_zero_where_nothing_speaks_for_a_term():
    # 0.1 + 0.2 + 0.3 in documents of one label only: the mean over the others is 0, without a rest of rounding.
    X = np.array([[0.1], [0.2], [0.3], [0.0]])
    scores = RocchioSelector(1, beta=0, gamma=1).fit(np.hstack([X, -np.ones((4, 1))]), [0, 0, 0, 1]).scores_
    assert scores[0, 0] == 0


def test_repeated_documents_keep_the_scores():
    y = [0, 1, 0]
    once, twice = RocchioSelector(1).fit(X3, y), RocchioSelector(1).fit(np.vstack([X3, X3]), y + y)
    assert_allclose(once.scores_, twice.scores_)


def test_nothing_to_choose_is_an_error():
    for X, y in [(np.zeros((2, 2)), [0, 1]), (X3[:2], np.zeros((2, 2))), (-np.ones((2, 2)), [0, 1])]:
        with pytest.raises(ValueError, match="no term has a positive Rocchio score for any label"):
            RocchioSelector().fit(sparse.csr_array(X), y)


@pytest.mark.parametrize("k", [0, -1, 1.5, "all", None])
def test_numbers_of_terms_are_checked(k):
    with pytest.raises(ValueError, match="'k_per_label' parameter of RocchioSelector must be"):
        RocchioSelector(k).fit(X3, SETS)
    with pytest.raises(ValueError, match="'n_features' parameter of BoostingSelector must be"):
        BoostingSelector(k).fit(X3, INDICATOR)


def test_rocchio_errors():
    with pytest.raises(ValueError, match="'beta' parameter of RocchioSelector must be"):
        RocchioSelector(beta=-1).fit(X3, SETS)
    with pytest.raises(ValueError, match="'gamma' parameter of RocchioSelector must be"):
        RocchioSelector(gamma=np.nan).fit(X3, SETS)
    with pytest.raises(ValueError, match="requires y to be passed"):
        RocchioSelector().fit(X3, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RocchioSelector().fit(X3, SETS[:2])
    with pytest.raises(ValueError, match="Y must be a matrix of 0 and 1"):
        RocchioSelector().fit(X3, [[1, 2], [2, 1], [1, 2]])


# ---------------------------------------------------------------------------------------------------------------
# Boosting
# ---------------------------------------------------------------------------------------------------------------


@given(
    st.one_of(
        edge_rows(max_rows=4, max_labels=4).map(lambda case: graphs_of(*case)),
        rank_matrices(min_rows=1, max_rows=4, max_labels=4).map(as_graphs),
    ).filter(lambda graphs: graphs.n_edges > 0),
    st.sampled_from(sorted(cuts.OF_EDGES)),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_boosting_scores_equal_the_loops_over_edges(graphs, name, k, weighted, as_sparse, data):
    n, n_labels = graphs.shape
    X = matrices(data, n, 3)
    weight = (
        np.array(data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=n, max_size=n))) if weighted else None
    )
    cut = [cuts.OF_EDGES[name](edges) for edges in edges_of(graphs)]
    expected = oracle.boosting(X.tolist(), cut, n_labels, weight)
    found = BoostingSelector(k, decomposition=name)
    found.fit(sparse.csr_array(X) if as_sparse else X, graphs, sample_weight=weight)
    assert_allclose(found.scores_, expected, rtol=1e-10, atol=1e-12)
    assert_array_equal(found.get_support(indices=True), oracle.best(found.scores_.tolist(), k))


def test_one_class_has_a_closed_form():
    # All scores 0: every other label flows in with 1 / K, the class flows out with (K - 1) / K.
    rng = np.random.default_rng(0)
    X, y, K = rng.poisson(0.5, (50, 8)).astype(float), rng.integers(4, size=50), 4
    scores = BoostingSelector(3).fit(sparse.csr_array(X), PreferenceGraphs.from_multiclass(y, n_labels=K)).scores_
    of_class = np.array([X[y == label].sum(axis=0) for label in range(K)])
    good, harm = of_class * (K - 1) / K, (X.sum(axis=0) - of_class) / K
    assert_allclose(scores, ((np.sqrt(harm) - np.sqrt(good)) ** 2).sum(axis=0))


@pytest.mark.parametrize("decomposition", sorted(cuts.OF_EDGES))
def test_scores_add_up_to_the_first_bound_of_the_ranker(decomposition):
    X, y = make_label_ranking(60, 4, n_labels=4, missing=0.2, random_state=0)
    options = {"solver": "boosting", "alpha": 0, "fit_intercept": False, "max_iter": 1, "on_empty": "ignore"}
    ranker = LogLinearRanker(decomposition, **options)
    with pytest.warns(ConvergenceWarning):
        ranker.fit(X, y)
    scores = BoostingSelector(4, decomposition=decomposition).fit(X, y).scores_
    rows = as_graphs(y).edge_counts() > 0
    assert_allclose(scores.sum() / (2 * np.abs(X[rows]).sum(axis=1).max()) / rows.sum(), ranker.bound_curve_[0])


def test_terms_without_news_score_nothing():
    X = np.array([[1.0, 1, 0], [1, 0, 0], [1, 0, 0], [1, 1, 0]])
    found = BoostingSelector(1).fit(X, [[1, 2], [1, 2], [2, 1], [2, 1]])
    assert_allclose(found.scores_, 0, atol=1e-15)
    assert_array_equal(found.get_support(), [True, False, False])  # a tie: the lowest index


def test_cycles_and_custom_decompositions():
    cycle = PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0])
    assert_allclose(BoostingSelector(1).fit([[1.0, 2.0]], cycle).scores_, 0, atol=1e-15)
    first = BoostingSelector(1, decomposition=lambda graph: [graph.edges[:1]]).fit([[1.0, 2.0]], [[1, 2, 3]])
    assert_allclose(first.scores_, [2 * 0.5, 2 * 0.5 * 2])


def test_sample_weight_repeats_documents():
    X, y = make_label_ranking(30, 5, n_labels=3, random_state=1)
    times = np.arange(30) % 3
    weighted = BoostingSelector(2).fit(X, y, sample_weight=times)
    repeated = BoostingSelector(2).fit(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0))
    assert_allclose(weighted.scores_, repeated.scores_)


def test_more_features_than_there_are():
    with pytest.warns(UserWarning, match="n_features=5, but X has 3 features; all are kept"):
        found = BoostingSelector(5).fit(X3, [[1, 2], [2, 1], [1, 2]])
    assert found.get_support().all()


def test_no_pair_at_all_is_said():
    with pytest.warns(UserWarning, match="y has no observed pair in any row of positive weight"):
        found = BoostingSelector(2).fit(X3, [[1], [1], [1]])
    assert_array_equal(found.get_support(), [True, True, False])
    with pytest.warns(UserWarning, match="y has no observed pair"):
        BoostingSelector(2).fit(X3, [[1, 2], [1, 1], [1, 1]], sample_weight=[0, 1, 1])


def test_boosting_errors():
    with pytest.raises(ValueError, match="decomposition 'nothing' is not known"):
        BoostingSelector(1, decomposition="nothing").fit(X3, INDICATOR)
    with pytest.raises(ValueError, match="requires y to be passed"):
        BoostingSelector(1).fit(X3, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        BoostingSelector(1).fit(X3, [[1, 2]])
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        BoostingSelector(1).fit(X3, [[1, 2]] * 3, sample_weight=[1, -1, 1])
