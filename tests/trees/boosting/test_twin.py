"""Boosted trees equal a literal twin, and with one pair of labels the boosting of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles.gradient_boosting import boost
from sklearn.ensemble import HistGradientBoostingClassifier

from labelrank import GradientBoostingRanker, PreferenceGraphs
from labelrank.decompositions import get_decomposition
from labelrank.supervision import as_graphs

NAN = np.nan


def make(n=60, d=4, k=4, seed=0, missing_labels=0.0, missing_values=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(np.float32).astype(float)
    utilities = np.sign(X @ rng.standard_normal((d, k))) + rng.standard_normal((n, k))
    y = np.argsort(np.argsort(-utilities, axis=1), axis=1) + 1.0
    y[rng.random(y.shape) < missing_labels] = NAN
    X[rng.random(X.shape) < missing_values] = NAN
    return X, y


def subgraphs(y, decomposition):
    cut = get_decomposition(decomposition).cut(as_graphs(y))
    return [[subgraph.edges() for subgraph in cut.of(i)] for i in range(cut.n_instances)]


CASES = {
    "disagreement": ("disagreement", {}, {}),
    "domination": ("domination", {}, {}),
    "dominated, deep": ("dominated", {}, {"max_depth": 2}),
    "zero_one": ("zero_one", {}, {"l2_regularization": 0.1}),
    "levels": ("levels", {}, {}),
    "missing labels": ("disagreement", {"missing_labels": 0.3}, {}),
    "missing values": ("disagreement", {"missing_values": 0.3}, {"min_samples_leaf": 3}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore:y has .* without any observed pair:UserWarning")
def test_equal_to_the_twin(case):
    decomposition, data, settings = CASES[case]
    X, y = make(**data)
    rows = np.flatnonzero(as_graphs(y).has_pairs())
    X, y = X[rows], y[rows]
    weight = np.random.default_rng(1).integers(1, 3, len(X)).astype(float)
    settings = {"max_iter": 3, "max_leaf_nodes": 5, "l2_regularization": 1.0, "min_samples_leaf": 5} | settings
    model = GradientBoostingRanker(decomposition=decomposition, learning_rate=0.3, **settings)
    model.fit(X, y, sample_weight=weight)
    scores, losses = boost(
        X, subgraphs(y, decomposition), weight, y.shape[1], n_iter=settings["max_iter"], learning_rate=0.3,
        l2=settings["l2_regularization"], min_weight=settings["min_samples_leaf"],
        max_leaves=settings["max_leaf_nodes"], max_depth=settings.get("max_depth", np.inf),
    )  # fmt: skip
    assert_allclose(model.decision_function(X), scores, atol=2e-5)
    assert_allclose(model.loss_curve_, losses, rtol=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_one_pair_of_labels_is_binary_log_loss(missing, l2):
    """Both scores of a pair take the Newton step, so that their difference moves twice as far: half the rate.

    What else differs is left out here: scikit-learn does not penalize the scores that it starts from, which are zero
    for classes of the same size; it places quantiles differently where more values than bins are cut exactly; with
    missing values it scans from both ends, so that a threshold may be at another place between two values of a node,
    and it sends missing values to the right in a node that had none, where we send them to the heavier side.
    """
    rng = np.random.default_rng(3)
    X = rng.standard_normal((240, 5))
    utility = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(240)
    target = (utility > np.median(utility)).astype(int)
    X[rng.random(X.shape) < missing] = NAN
    shared = {"max_iter": 30, "max_leaf_nodes": 8, "min_samples_leaf": 10, "early_stopping": False}
    theirs = HistGradientBoostingClassifier(learning_rate=0.2, l2_regularization=l2, **shared).fit(X, target)
    y = np.column_stack([2 - target, 1 + target])  # label 0 is first in class 1
    ours = GradientBoostingRanker(learning_rate=0.1, l2_regularization=l2, **shared).fit(X, y)
    other = rng.standard_normal((500, 5))
    assert_allclose(ours.decision_function(X) @ [1, -1], theirs.decision_function(X), atol=1e-10)
    if missing:
        return
    assert_allclose(ours.pairwise_proba(other)[:, 0, 1], theirs.predict_proba(other)[:, 1], atol=1e-10)
    splits = ours.feature_ >= 0
    nodes = np.concatenate([stage[0].nodes for stage in theirs._predictors])
    inner = nodes["is_leaf"] == 0
    assert sorted(ours.threshold_[splits]) == sorted(nodes["num_threshold"][inner])


def test_two_labels_of_many_are_the_pair_alone():
    X, y = make(k=2)
    wide = np.full((len(y), 5), NAN)
    wide[:, [3, 1]] = y
    settings = {"max_iter": 5, "min_samples_leaf": 5}
    narrow = GradientBoostingRanker(**settings).fit(X, y).decision_function(X)
    scores = GradientBoostingRanker(**settings).fit(X, PreferenceGraphs.from_rankings(wide)).decision_function(X)
    assert_allclose(scores[:, [3, 1]], narrow, atol=1e-6)
    assert (scores[:, [0, 2, 4]] == 0).all()
