"""Splits of ranking trees: no split is better, and with two labels they are those of scikit-learn."""

import numpy as np
import pytest
from oracles import trees as oracle
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from trees.rows_of_trees import NAN, battles, depths_of_nodes, make, rows_of_nodes

from labelrank import PreferenceGraphs, mask_rankings
from labelrank.trees import DecisionTreeRanker

pytestmark = pytest.mark.filterwarnings("ignore:y has .* without any observed pair:UserWarning")

# ---------------------------------------------------------------------------------------------------------------
# No split is better than the one that was made
# ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["mallows", "pair_gini", "vote_variance"])
@pytest.mark.parametrize(
    "kind", ["complete", "missing labels", "ties", "cycles", "missing values", "categories", "weights", "many rows"]
)
def test_every_split_is_the_best(criterion, kind):
    X, y = make(n=40, d=2, k=3 if criterion == "mallows" else 4, seed=3)
    rng = np.random.default_rng(0)
    weight, categorical = np.ones(len(X)), ()
    graphs = y
    if kind == "missing labels":
        graphs = y = mask_rankings(y, 0.4, random_state=0)
    elif kind == "ties":
        graphs = y = np.ceil(y / 2)
    elif kind == "missing values":
        X[rng.random(X.shape) < 0.25] = NAN
    elif kind == "categories":
        X[:, 0] = rng.integers(0, 4, len(X))
        X[:5, 0] = NAN
        categorical = (0,)
    elif kind == "weights":
        weight = rng.random(len(X)) * 3
    elif kind == "many rows":  # theta of pure nodes is large
        weight = rng.random(len(X)) * 3000
    rows = oracle.rank_rows(np.asarray(y))
    if kind == "cycles":
        graphs, rows = battles(len(X), y.shape[1], 1)
    k = y.shape[1]
    tree = DecisionTreeRanker(
        criterion,
        min_samples_split=6,
        max_depth=4,
        min_samples_leaf=1e-9,
        categorical_features=list(categorical) or None,
    )
    tree.fit(X, graphs, sample_weight=weight)
    members, depths = rows_of_nodes(tree, X), depths_of_nodes(tree)
    n_inner = 0
    for node, inside in enumerate(members):
        left, right = tree.children_left_[node], tree.children_right_[node]
        if left < 0:
            counts = oracle.votes(rows, weight, inside, k)
            assert (
                weight[inside].sum() < 6
                or (np.minimum(counts, counts.T) < 1e-9).all()
                or (criterion == "vote_variance" and oracle.vote_variance(rows, weight, inside, k) < 1e-6)
                or depths[node] == 4
                or not oracle.splits(X, inside, categorical)
            )
            continue
        n_inner += 1
        assert sorted(members[left] + members[right]) == sorted(inside)
        made = oracle.value(criterion, (members[left], members[right]), rows, weight, k)
        best = max(oracle.value(criterion, sides, rows, weight, k) for sides in oracle.splits(X, inside, categorical))
        assert made >= best - 1e-3 * weight[inside].sum() * (criterion == "mallows") - 1e-5
    assert n_inner >= 3


def fractional(kind, seed):
    """Noisy rankings of two groups, of which only some pairs are seen, with weights of rows that are no integers."""
    rng = np.random.default_rng(seed)
    X = np.arange(50.0)[:, None]
    y = np.where(X < 25, [[1.0, 2, 3, 4]], [[4.0, 3, 2, 1]])
    flipped = rng.random(len(y)) < 0.15
    y[flipped] = y[flipped][:, ::-1]
    weight = rng.random(len(y)) + 0.5
    if kind == "incomplete":
        y = mask_rankings(y, 0.5, random_state=seed)
    elif kind == "tied":
        y = np.ceil((y + rng.integers(0, 2, y.shape)) / 2)
    rows = oracle.rank_rows(y)
    if kind == "edges":
        rows = [[(a, b, rng.random() + 0.1) for a, b, _ in row if rng.random() < 0.3] for row in rows]
        i, a, b, w = zip(*[(i, *edge) for i, row in enumerate(rows) for edge in row], strict=True)
        y = PreferenceGraphs.from_pairs(i, a, b, w, n_instances=len(X), n_labels=4)
    return X, y, weight, rows


@pytest.mark.parametrize("kind", ["incomplete", "tied", "edges"])
def test_fractional_weights_of_pairs_that_end_on_one_side(kind):
    """What rounding leaves of a pair that is all on the other side is no preference."""
    for seed in range(6):
        X, y, weight, rows = fractional(kind, seed)
        tree = DecisionTreeRanker(max_depth=1, on_empty="ignore").fit(X, y, sample_weight=weight)
        sides = [np.flatnonzero(tree.apply(X) == leaf).tolist() for leaf in (1, 2)]
        made = oracle.value("pair_gini", sides, rows, weight, 4)
        best = max(oracle.value("pair_gini", sides, rows, weight, 4) for sides in oracle.splits(X, range(len(X))))
        assert made >= best - 1e-4


@pytest.mark.parametrize("kind", ["complete", "incomplete"])
@pytest.mark.parametrize("scale", [1e-25, 1e-10, 1e10, 1e25])
def test_the_unit_of_weights_does_not_matter(kind, scale):
    X, y, weight, _ = fractional(kind, 0)
    limits = {"min_samples_split": 5.0, "min_samples_leaf": 2.0, "shrinkage": 1.0}
    plain = DecisionTreeRanker(on_empty="ignore", **limits).fit(X, y, sample_weight=weight)
    scaled = DecisionTreeRanker(on_empty="ignore", **{name: scale * value for name, value in limits.items()})
    scaled.fit(X, y, sample_weight=scale * weight)
    np.testing.assert_array_equal(plain.threshold_, scaled.threshold_)
    np.testing.assert_allclose(plain.node_weight_, scaled.node_weight_ / scale, rtol=1e-9)
    np.testing.assert_allclose(plain.impurity_, scaled.impurity_, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(plain.decision_function(X), scaled.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("scale", [1e-25, 1e-10, 1e10, 1e25])
def test_the_unit_of_edge_weights_does_not_matter(scale):
    X, y, _, rows = fractional("edges", 0)
    i, a, b, w = zip(*[(i, *edge) for i, row in enumerate(rows) for edge in row], strict=True)
    other = PreferenceGraphs.from_pairs(i, a, b, scale * np.array(w), n_instances=len(X), n_labels=4)
    plain = DecisionTreeRanker(on_empty="ignore").fit(X, y)
    scaled = DecisionTreeRanker(on_empty="ignore", shrinkage=scale).fit(X, other)
    assert plain.get_n_leaves() > 2
    np.testing.assert_array_equal(plain.threshold_, scaled.threshold_)
    np.testing.assert_allclose(plain.impurity_, scaled.impurity_ / scale, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(plain.decision_function(X), scaled.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("kind", ["complete", "incomplete"])
def test_a_huge_weight_beside_ordinary_ones(kind):
    X, y, _, rows = fractional(kind, 1)
    weight = np.ones(len(X))
    weight[40] = 1e9
    tree = DecisionTreeRanker(max_depth=1, on_empty="ignore").fit(X, y, sample_weight=weight)
    sides = [np.flatnonzero(tree.apply(X) == leaf).tolist() for leaf in (1, 2)]
    made = oracle.value("pair_gini", sides, rows, weight, 4)
    best = max(oracle.value("pair_gini", sides, rows, weight, 4) for sides in oracle.splits(X, range(len(X))))
    assert made >= best - 1e-4


@pytest.mark.parametrize("criterion", ["mallows", "pair_gini", "vote_variance"])
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_sums_beyond_24_bits(criterion, splitter):
    """A split among 24 million rows is found where it is: 24 rows that weigh a million, and some that weigh 1."""
    X = np.r_[np.arange(24.0), 18.9, 18.95, 19.05, 19.1][:, None]
    weight = np.r_[np.full(24, 1e6), np.ones(4)] + (X[:, 0] == 0)  # odd sums
    y = np.where(X < 19, [[1.0, 2, 3]], [[1.0, 3, 2]])
    tree = DecisionTreeRanker(criterion, splitter=splitter, min_samples_split=2, random_state=0)
    tree.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(tree.predict(X), y)
    assert tree.node_weight_[0] == 24_000_005
    leaves = tree.apply(X)
    sums = np.bincount(leaves, weights=weight, minlength=len(tree.feature_))
    np.testing.assert_array_equal(tree.node_weight_[tree.children_left_ < 0], sums[tree.children_left_ < 0])
    if splitter == "best":
        assert tree.get_n_leaves() == 2
        assert 18.95 < tree.threshold_[0] < 19.05


def test_weights_whose_squares_overflow():
    X, y = make(n=20)
    with pytest.raises(ValueError, match=r"sum to 2e\+201, and their squares overflow; divide sample_weight"):
        DecisionTreeRanker().fit(X, y, sample_weight=np.full(20, 1e200))


# ---------------------------------------------------------------------------------------------------------------
# The same trees as scikit-learn's
# ---------------------------------------------------------------------------------------------------------------


def structure(left, right, feature, threshold, node=0):
    if left[node] < 0:
        return None
    return (
        int(feature[node]),
        round(float(threshold[node]), 5),
        structure(left, right, feature, threshold, left[node]),
        structure(left, right, feature, threshold, right[node]),
    )


def same_tree(ours, theirs):
    t = theirs.tree_
    mine = structure(ours.children_left_, ours.children_right_, ours.feature_, ours.threshold_)
    assert mine == structure(t.children_left, t.children_right, t.feature, t.threshold)
    assert mine is not None


TWO = {
    "plain": {"max_depth": 3},
    "best first": {"max_leaf_nodes": 7},
    "large leaves": {"min_samples_leaf": 15},
    "pruned": {"ccp_alpha": 0.01, "max_depth": 6},
    "split size": {"min_samples_split": 60},
}


@pytest.mark.parametrize("limits", TWO.values(), ids=TWO.keys())
@pytest.mark.parametrize("weighted", [False, True])
def test_two_labels_are_a_classification_tree(limits, weighted):
    X, y = make(n=300, d=4, k=2, seed=1)
    weight = np.random.default_rng(0).integers(1, 5, len(X)) if weighted else None
    counts = set(limits) & {"min_samples_leaf", "min_samples_split"}
    limits = {"min_samples_split": 2} | limits
    ours = DecisionTreeRanker("pair_gini", **limits).fit(X, y, sample_weight=weight)
    theirs, target = DecisionTreeClassifier(random_state=0, **limits), y[:, 0] < y[:, 1]
    if weighted and counts:  # scikit-learn counts rows there: give it as many as we count
        theirs.fit(np.repeat(X, weight, axis=0), np.repeat(target, weight))
    else:
        theirs.fit(X, target, sample_weight=weight)
    same_tree(ours, theirs)
    np.testing.assert_allclose(np.sort(ours.impurity_), np.sort(theirs.tree_.impurity), atol=1e-7)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-6)
    assert ours.get_depth() == theirs.get_depth()
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    plain = clone(ours).set_params(shrinkage=0).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(plain.pairwise_proba(X)[:, 0, 1], theirs.predict_proba(X)[:, 1], atol=1e-6)


def test_missing_values_as_in_a_classification_tree():
    X, y = make(n=300, d=3, k=2, seed=2)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = NAN
    ours = DecisionTreeRanker("pair_gini", max_depth=3).fit(X, y)
    theirs = DecisionTreeClassifier(random_state=0, max_depth=3).fit(X, y[:, 0] < y[:, 1])
    same_tree(ours, theirs)
    assert (ours.decision_path(X).sum(axis=0)[ours.children_left_ < 0] > 0).all()


def test_complete_rankings_are_a_regression_tree_on_pair_signs():
    X, y = make(n=200, d=4, k=4, seed=5)
    a, b = np.triu_indices(4, 1)
    limits = {"min_samples_split": 30}
    ours = DecisionTreeRanker("pair_gini", **limits).fit(X, y)
    same_tree(ours, DecisionTreeRegressor(random_state=0, **limits).fit(X, np.sign(y[:, b] - y[:, a])))


def test_the_variance_of_votes_is_that_of_a_regression_tree_on_ranks():
    X, y = make(n=200, d=4, k=6, seed=5)
    limits = {"min_samples_split": 30}
    ours = DecisionTreeRanker("vote_variance", shrinkage=0.0, **limits).fit(X, y)
    theirs = DecisionTreeRegressor(random_state=0, **limits).fit(X, y)
    same_tree(ours, theirs)
    np.testing.assert_allclose(ours.decision_function(X), 6 - theirs.predict(X), atol=1e-5)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-6)
