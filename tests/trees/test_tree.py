"""Ranking trees: leaves, missing values and categories, weights, text, and edge cases."""

import tracemalloc
import warnings

import numpy as np
import pytest
from oracles import trees as oracle
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from trees.rows_of_trees import NAN, battles, make, parents_of_nodes, rows_of_nodes

from labelrank import PreferenceGraphs, as_graphs, mask_rankings
from labelrank.datasets import load_iris_rankings
from labelrank.metrics import kendall_tau
from labelrank.trees import DecisionTreeRanker

pytestmark = pytest.mark.filterwarnings("ignore:y has .* without any observed pair:UserWarning")


@parametrize_with_checks(
    [
        DecisionTreeRanker(),
        DecisionTreeRanker("mallows"),
        DecisionTreeRanker("vote_variance"),
        DecisionTreeRanker(splitter="random"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ---------------------------------------------------------------------------------------------------------------
# Leaves
# ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shrinkage", [0.0, 1.0, 5.0])
def test_leaves_are_drawn_to_their_parents(shrinkage):
    X, y = make(n=80, k=4, seed=1)
    y = mask_rankings(y, 0.5, random_state=0)
    tree = DecisionTreeRanker(max_depth=3, shrinkage=shrinkage).fit(X, y)
    members, graph_rows = rows_of_nodes(tree, X), oracle.rank_rows(y)
    proba = np.full((len(members), 4, 4), 0.5)
    parents = parents_of_nodes(tree)
    for node, rows in enumerate(members):
        before = proba[parents[node]] if node else np.full((4, 4), 0.5)
        counts = oracle.votes(graph_rows, np.ones(len(y)), rows, 4)
        both = counts + counts.T
        known = both > 0
        proba[node] = before
        proba[node][known] = ((counts + shrinkage * before) / np.where(known, both + shrinkage, 1))[known]
    np.testing.assert_allclose(tree.pairwise_proba(X), proba[tree.apply(X)], atol=1e-6)
    expected = proba[tree.apply(X)].sum(axis=2) - 0.5
    np.testing.assert_allclose(tree.decision_function(X), expected, atol=1e-6)


def test_spread_grows_with_agreement():
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    rng = np.random.default_rng(0)
    y = np.vstack([np.tile([1.0, 2.0, 3.0], (50, 1)), np.argsort(rng.random((50, 3)), axis=1) + 1])
    tree = DecisionTreeRanker(max_depth=1).fit(X, y)
    sure, unsure = tree.predict_spread([[0.0], [1.0]])
    assert sure > 3
    assert unsure < 0.7
    np.testing.assert_array_equal(tree.predict([[0.0]]), [[1, 2, 3]])
    alone = DecisionTreeRanker(shrinkage=0.0).fit(X[:1], y[:1])
    assert alone.predict_spread(X[:1])[0] == 10


def test_spread_of_samples_of_the_mallows_model():
    """theta of a node comes back from the samples, also with 60 % of the labels missing."""
    from labelrank.aggregation.mallows import Mallows

    y = Mallows.from_params([1, 2, 3, 4, 5], 0.8).sample(4000, random_state=0)
    X = np.zeros((len(y), 1))
    for fraction in (0.0, 0.6):
        masked = mask_rankings(y, fraction, random_state=0)
        assert DecisionTreeRanker().fit(X, masked).predict_spread(X[:1])[0] == pytest.approx(0.8, abs=0.05)


def test_iris():
    X, y = load_iris_rankings(return_X_y=True)
    assert DecisionTreeRanker().fit(X, y).score(X, y) > 0.97


# ---------------------------------------------------------------------------------------------------------------
# Weights, order, randomness
# ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["mallows", "pair_gini"])
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_a_weight_is_a_number_of_rows_and_their_order_does_not_matter(criterion, splitter):
    X, y = make(n=80)
    y = mask_rankings(y, 0.2, random_state=0)
    weight = np.random.default_rng(5).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    order = np.random.default_rng(6).permutation(len(rows))
    tree = DecisionTreeRanker(criterion, splitter=splitter, random_state=3)
    weighted = clone(tree).fit(X, y, sample_weight=weight)
    repeated = clone(tree).fit(X[rows][order], y[rows][order])
    np.testing.assert_array_equal(weighted.feature_, repeated.feature_)
    np.testing.assert_array_equal(weighted.threshold_, repeated.threshold_)
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))


def test_ten_weights_of_a_tenth_are_one():
    X = np.arange(40.0)[:, None]
    y = np.r_[np.tile([1.0, 2], (10, 1)), np.tile([2.0, 1], (30, 1))]
    assert np.cumsum(np.full(10, 0.1))[-1] < 1
    tenth = DecisionTreeRanker(min_samples_split=4, min_samples_leaf=1).fit(X, y, sample_weight=np.full(40, 0.1))
    assert tenth.threshold_[0] == 9.5
    assert tenth.get_n_leaves() == 2
    split = DecisionTreeRanker(min_samples_split=1, min_samples_leaf=0.1)
    assert split.fit(X[5:15], y[5:15], sample_weight=np.full(10, 0.1)).get_n_leaves() == 2


def test_weights_too_small_for_a_split():
    X, y = make(n=60)
    with pytest.warns(UserWarning, match=r"the 60 rows sum to 1, too little .* min_samples_split=8: .* count as rows"):
        assert DecisionTreeRanker().fit(X, y, sample_weight=np.full(60, 1 / 60)).get_n_leaves() == 1
    with pytest.warns(UserWarning, match="with min_samples_leaf=20"):
        DecisionTreeRanker(min_samples_leaf=20).fit(X, y, sample_weight=np.full(60, 1 / 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DecisionTreeRanker().fit(X[:5], y[:5])  # few rows are no surprise
        DecisionTreeRanker().fit(X, y, sample_weight=np.arange(60) < 3)


def test_no_side_is_empty():
    """The sum of the weights less itself, summed in another order, is not always zero."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 3, (40, 2)).astype(float), make(n=40, seed=seed)[1]
        X[rng.random(X.shape) < 0.2] = NAN
        for splitter in ("best", "random"):
            tree = DecisionTreeRanker(
                splitter=splitter, min_samples_split=1e-9, min_samples_leaf=1e-30, categorical_features=[1],
                random_state=seed
            ).fit(X, y, sample_weight=rng.random(40) * 10)  # fmt: skip
            assert (tree.n_node_samples_ > 0).all()


def test_random_state():
    X, y = make(n=100, d=6)
    for settings in ({"splitter": "random"}, {"max_features": 2}):
        a, b = (DecisionTreeRanker(random_state=0, **settings).fit(X, y) for _ in range(2))
        c = DecisionTreeRanker(random_state=1, **settings).fit(X, y)
        np.testing.assert_array_equal(a.threshold_, b.threshold_)
        assert len(a.threshold_) != len(c.threshold_) or (a.threshold_ != c.threshold_).any()
    a, b = (DecisionTreeRanker(random_state=s).fit(X, y) for s in range(2))
    np.testing.assert_array_equal(a.threshold_, b.threshold_)  # nothing is drawn


@pytest.mark.parametrize(("given", "expected"), [(None, 9), (2, 2), (0.5, 4), ("sqrt", 3), ("log2", 3), (100, 9)])
def test_max_features(given, expected):
    """A share or a name gives the same tree as the number of features that it stands for."""
    X, y = make(n=100, d=9)
    a, b = (DecisionTreeRanker(max_features=m, random_state=0).fit(X, y) for m in (given, expected))
    np.testing.assert_array_equal(a.threshold_, b.threshold_)


def test_constant_features_do_not_count():
    X, y = make(n=60, d=1, k=3, noise=0.1)
    X = np.hstack([np.zeros((60, 20)), X, np.ones((60, 20))])
    tree = DecisionTreeRanker(max_features=1, random_state=0).fit(X, y)
    assert set(tree.feature_[tree.feature_ >= 0]) == {20}
    assert tree.feature_importances_[20] == pytest.approx(1)


# ---------------------------------------------------------------------------------------------------------------
# Paths and text
# ---------------------------------------------------------------------------------------------------------------


def test_paths_and_leaves():
    X, y = make(n=100)
    tree = DecisionTreeRanker().fit(X, y)
    path = tree.decision_path(X)
    assert isinstance(path, sparse.csr_array)
    leaves = tree.apply(X)
    assert (tree.children_left_[leaves] == -1).all()
    dense = path.toarray()
    assert (dense[np.arange(100), leaves] == 1).all()
    assert dense[:, 0].all()
    assert dense.sum(axis=1).max() == tree.get_depth() + 1
    np.testing.assert_array_equal(dense.sum(axis=0), tree.n_node_samples_)
    np.testing.assert_array_equal(tree.node_weight_, tree.n_node_samples_)
    assert len(np.unique(leaves)) == tree.get_n_leaves()


@pytest.mark.parametrize("side", ["left", "right"])
def test_text_says_where_missing_values_go(side):
    X = np.arange(40.0)[:, None]
    y = np.where(X < 20, [[1.0, 2]], [[2.0, 1]])
    complete = DecisionTreeRanker().fit(X, y)
    assert "missing" not in complete.export_text()
    X[3 if side == "left" else 33] = NAN
    tree = DecisionTreeRanker().fit(X, y)
    assert tree.had_missing_.tolist() == [True]
    lines = [line for line in tree.export_text().splitlines() if "x0" in line]
    expected = ["|--- x0 <= 19.50", "|--- x0 > 19.50"]
    expected[side == "right"] += " or missing"
    assert lines == expected


def test_text():
    X, y = load_iris_rankings(return_X_y=True)
    tree = DecisionTreeRanker(max_depth=2).fit(X, y)
    lines = tree.export_text(decimals=1).splitlines()
    assert lines[0] == "|--- x2 <= 2.5" or lines[0] == "|--- x2 <= 2.4"
    assert lines[1].startswith("|   |--- 0 > ")
    assert "theta" in lines[1]
    assert "50 rows" in lines[1]
    assert sum("theta" in line for line in lines) == tree.get_n_leaves()
    assert "..." in tree.export_text(max_depth=1)
    with pytest.raises(NotFittedError):
        DecisionTreeRanker().export_text()


# ---------------------------------------------------------------------------------------------------------------
# Edge cases
# ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["mallows", "pair_gini"])
def test_small_and_degenerate(criterion):
    tree = DecisionTreeRanker(criterion)
    one_label = clone(tree).fit([[0.0], [1.0]], [[1.0], [1.0]])
    np.testing.assert_array_equal(one_label.predict([[3.0]]), [[1]])
    np.testing.assert_array_equal(one_label.predict_spread([[3.0]]), [0])
    one_row = clone(tree).fit([[0.0]], [[2.0, 1.0]])
    np.testing.assert_array_equal(one_row.predict([[5.0]]), [[2, 1]])
    constant = clone(tree).fit(np.zeros((30, 2)), make(n=30)[1])
    assert constant.get_n_leaves() == 1
    empty = clone(tree).fit(np.arange(20.0)[:, None], np.full((20, 3), NAN))
    np.testing.assert_array_equal(empty.predict([[0.0]]), [[1, 1, 1]])
    np.testing.assert_array_equal(empty.pairwise_proba([[0.0]]), np.full((1, 3, 3), 0.5))
    all_missing = clone(tree).fit(np.full((30, 1), NAN), make(n=30)[1])
    assert all_missing.get_n_leaves() == 1


def test_duplicated_rows_with_different_rankings_cannot_be_split():
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    y = np.tile([[1.0, 2], [2.0, 1]], (20, 1))
    tree = DecisionTreeRanker(min_samples_split=2).fit(X, y)
    assert tree.get_depth() <= 1
    np.testing.assert_allclose(tree.pairwise_proba([[0.0]])[0, 0, 1], 0.5, atol=1e-6)


def test_huge_and_close_values():
    X = np.array([[1e300], [-1e300], [1.0], [np.nextafter(1.0, 2)]])
    y = np.array([[1.0, 2], [2.0, 1], [1.0, 2], [2.0, 1]])
    tree = DecisionTreeRanker(min_samples_split=2).fit(X, y)
    np.testing.assert_array_equal(tree.predict(X), y)
    for seed in range(5):
        drawn = DecisionTreeRanker(min_samples_split=2, splitter="random", random_state=seed).fit(X, y)
        np.testing.assert_array_equal(drawn.predict(X), y)


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("criterion", ["pair_gini", "mallows"])
def test_rows_are_counted_where_they_end(criterion, splitter):
    rng = np.random.default_rng(0)
    X, y = make(300, 4)
    X[:, 0] = np.round(X[:, 0])  # ties, and both zeros
    X[:, 1] = 1 + rng.integers(0, 5, 300) * np.finfo(float).eps  # neighbors, between which there is no middle
    X[:, 2] = rng.integers(0, 6, 300)
    X[rng.random(X.shape) < 0.1] = NAN
    settings = {"splitter": splitter, "categorical_features": [2], "min_samples_split": 2, "random_state": 0}
    tree = DecisionTreeRanker(criterion, **settings).fit(X, y)
    assert {0, 1, 2, 3} <= set(tree.feature_)
    assert [len(rows) for rows in rows_of_nodes(tree, X)] == tree.n_node_samples_.tolist()


def test_the_data_are_not_overwritten():
    X, y = make(100)
    X, y = np.asfortranarray(X), np.asfortranarray(y)
    before = X.copy(), y.copy()
    first, second = (DecisionTreeRanker().fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
    np.testing.assert_array_equal(first.threshold_, second.threshold_)


def test_levels_edges_and_ranks_give_the_same_tree():
    X, y = make(n=70)
    y = mask_rankings(np.ceil(y / 1.5), 0.3, random_state=0)
    levels = as_graphs(y)
    edges = PreferenceGraphs.concatenate([levels, battles(1, 4, 0)[0]])[: len(y)]
    assert edges.storage == "edges"
    fitted = [DecisionTreeRanker().fit(X, target).decision_function(X) for target in (y, levels, edges)]
    np.testing.assert_array_equal(fitted[0], fitted[1])
    np.testing.assert_array_equal(fitted[0], fitted[2])


def test_weights_of_edges_that_are_no_small_integers():
    """Kept as floats; scaled by a power of two, they give the same tree as small integers do."""
    graphs, rows = battles(60, 4, 3)
    flat = [(i, a, b, w) for i, row in enumerate(rows) for a, b, w in row]
    i, a, b, w = zip(*flat, strict=True)
    X = make(n=60)[0]
    halves = PreferenceGraphs.from_pairs(i, a, b, np.array(w) / 2, n_instances=60, n_labels=4)
    settings = {"max_depth": 3, "shrinkage": 0.0}
    whole, half = (DecisionTreeRanker("pair_gini", **settings).fit(X, target) for target in (graphs, halves))
    np.testing.assert_array_equal(whole.threshold_, half.threshold_)
    np.testing.assert_allclose(whole.decision_function(X), half.decision_function(X), atol=1e-6)


def test_many_labels():
    X, y = make(n=60, k=40)
    tree = DecisionTreeRanker(min_samples_split=10).fit(X, y)
    assert tree.criterion_ == "pair_gini"
    assert tree.score(X, y) > 0.2
    X, y = make(n=60, k=51)
    tree = DecisionTreeRanker(min_samples_split=10).fit(X, y)
    assert tree.criterion_ == "vote_variance"
    assert tree.score(X, y) > 0.2
    assert not hasattr(tree, "pair_balance_")
    assert tree.vote_moments_.shape == (len(tree.feature_), 52)


def test_very_many_labels():
    """What is kept grows with the labels, and not with their pairs."""
    X, y = make(n=20, k=3000)
    tree = DecisionTreeRanker(min_samples_split=2, shrinkage=0.0).fit(X, y)
    np.testing.assert_array_equal(tree.predict(X), y)
    assert sum(value.nbytes for value in vars(tree).values() if isinstance(value, np.ndarray)) < 1e6


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_pairs_of_many_labels_need_memory_for_the_nodes_that_there_can_be(missing):
    """Here it is one, as a node is split from min_samples_split=2 * n_labels rows on, and not one for every row."""
    X, y = make(n=300, k=400)
    y = mask_rankings(y, missing, random_state=0)
    DecisionTreeRanker("pair_gini").fit(X[:2], y[:2])
    tracemalloc.start()
    try:
        tree = DecisionTreeRanker("pair_gini").fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    pairs = 300 * 400 * 399 / 2
    assert len(tree.feature_) == 1
    assert peak < (6 if missing else 3) * pairs  # bytes for signs, and for votes that are not all 1


@pytest.mark.parametrize("fraction", [0.0, 0.4])
def test_probabilities_of_votes(fraction):
    """Leads of labels, taken for normal, give nearly the probabilities of pair counts."""
    X, y = make(n=800, d=2, k=6)
    masked = mask_rankings(y, fraction, random_state=0)
    pairs, votes = (DecisionTreeRanker(c, max_depth=2).fit(X, masked) for c in ("pair_gini", "vote_variance"))
    proba = votes.pairwise_proba(X)
    np.testing.assert_allclose(proba + proba.transpose(0, 2, 1), 1)
    assert np.abs(proba - pairs.pairwise_proba(X)).mean() < 0.06
    assert np.abs(votes.predict_spread(X) - pairs.predict_spread(X)).mean() < 0.1
    agree = DecisionTreeRanker("vote_variance", shrinkage=0.0).fit(X[:5], y[[0] * 5])
    np.testing.assert_array_equal(agree.pairwise_proba(X[:1])[0] > 0.5, y[0][:, None] < y[0])


# ---------------------------------------------------------------------------------------------------------------
# Sparse features
# ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("criterion", ["pair_gini", "mallows", "vote_variance"])
def test_sparse_features_give_the_same_tree(criterion, splitter):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.integers(-2, 4, (50, 5)) * (rng.random((50, 5)) < 0.5) * (1.0 if seed % 3 else rng.random((50, 5)))
        X[:, 4] = 0.0
        if seed % 2:
            X[rng.random(X.shape) < 0.15] = NAN
        y = make(n=50, seed=seed)[1]
        y = mask_rankings(y, 0.3, random_state=0) if seed % 4 > 1 else y
        tree = DecisionTreeRanker(
            criterion, splitter=splitter, min_samples_split=2, random_state=seed, max_features=(None, 2, 0.7)[seed % 3],
            categorical_features=[0, 1] if seed % 5 == 0 else None,
        )  # fmt: skip
        dense, thin = clone(tree).fit(X, y), clone(tree).fit(sparse.csr_array(X), y)
        np.testing.assert_array_equal(dense.feature_, thin.feature_)
        np.testing.assert_array_equal(dense.threshold_, thin.threshold_)
        np.testing.assert_array_equal(dense.missing_left_, thin.missing_left_)
        np.testing.assert_array_equal(dense.had_missing_, thin.had_missing_)
        np.testing.assert_array_equal(dense.decision_function(X), thin.decision_function(sparse.csc_array(X)))
        np.testing.assert_array_equal(dense.apply(X), thin.apply(sparse.csr_array(X)))


def test_sparse_features_that_do_not_fit_into_memory_when_dense():
    rng = np.random.default_rng(0)
    words = rng.integers(3, 10**6, (30_000, 20))
    words[:, 0] = rng.integers(0, 3, 30_000)
    X = sparse.csr_array((np.ones(600_000), words.ravel(), np.arange(0, 600_001, 20)), shape=(30_000, 10**6))
    y = np.array([[1.0, 2, 3], [2, 3, 1], [3, 1, 2]])[words[:, 0]]
    np.testing.assert_array_equal(DecisionTreeRanker().fit(X, y).predict(X), y)


def test_refused():
    X, y = make()
    with pytest.raises(ValueError, match="infinity"):
        DecisionTreeRanker().fit(np.where(X > 0, np.inf, X), y)
    for name, bad in {
        "max_depth": 0,
        "min_samples_leaf": 0,
        "ccp_alpha": -1,
        "criterion": "gini",
        "shrinkage": -1,
        "max_features": True,
    }.items():
        with pytest.raises(ValueError, match=name):
            DecisionTreeRanker(**{name: bad}).fit(X, y)
    with pytest.raises(NotFittedError):
        DecisionTreeRanker().predict(X)


def test_better_than_chance_on_new_rows():
    X, y = make(n=400, noise=0.3)
    tree = DecisionTreeRanker().fit(X[:300], y[:300])
    assert kendall_tau(y[300:], tree.predict(X[300:])) > 0.4
