"""Numbers in a file that would lead compiled code astray are an error of `load`, not a crash of `predict`."""

import json

import numpy as np
import pytest
from persistence.forged import packed, unpacked
from scipy import sparse
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier

from labelrank import (
    GradientBoostingRanker,
    KNeighborsRanker,
    LogLinearRanker,
    PairwiseRanker,
    RandomForestRanker,
    load,
    save,
)
from labelrank.datasets import make_label_ranking

pytest.importorskip("skops")

X, Y = make_label_ranking(60, 3, n_labels=3, random_state=0)


def set_item(name, place, value):
    def change(model):
        array = getattr(model, name)
        array = [*array] if isinstance(array, list) else array
        array[place] = value
        setattr(model, name, array)

    return change


def set_attribute(name, value):
    return lambda model: setattr(model, name, value)


def shorter(name):
    return lambda model: setattr(model, name, getattr(model, name)[:-1])


FOREST, BOOSTED, NEAR = (
    RandomForestRanker(2, random_state=0),
    GradientBoostingRanker(max_iter=2, early_stopping=False),
    KNeighborsRanker(),
)
CHANGES = [
    (FOREST, set_item("children_left_", 0, 10**6)),
    (FOREST, set_item("children_right_", 0, 0)),
    (FOREST, set_item("feature_", 0, 3)),
    (FOREST, set_item("tree_offsets_", -1, 10**6)),
    (FOREST, set_item("tree_offsets_", 0, -1)),
    (FOREST, shorter("feature_")),
    (FOREST, shorter("pair_balance_")),
    (FOREST, set_attribute("is_categorical_", np.zeros(1, dtype=bool))),
    (FOREST, set_attribute("n_features_in_", 2)),
    (FOREST, set_attribute("children_left_", "none")),
    (BOOSTED, set_item("children_right_", 0, -7)),
    (BOOSTED, set_item("feature_", 0, -1)),
    (BOOSTED, set_item("category_set_", 0, 5)),
    (BOOSTED, shorter("value_")),
    (BOOSTED, shorter("baseline_")),
    (BOOSTED, set_attribute("left_bins_", np.zeros((1, 2), dtype=bool))),
    (BOOSTED, shorter("bin_edges_")),
    (NEAR, set_item("pairs_", 2, np.array([7]))),
    (NEAR, shorter("votes_")),
    (NEAR, shorter("weight_")),
    (NEAR, shorter("overall_ranks_")),
    (LogLinearRanker(), set_attribute("coef_", np.zeros((3, 1)))),
]


@pytest.mark.parametrize(("model", "change"), CHANGES)
def test_indices_that_lead_nowhere(model, change, tmp_path):
    path = tmp_path / "model.lrk"
    model = model.__class__(**model.get_params()).fit(X, Y)
    save(model, path)
    load(path)
    change(model)
    save(model, path)
    with pytest.raises(ValueError, match=r"model.lrk: not a model that this version can load"):
        load(path)


@pytest.mark.parametrize(
    "classifier",
    [
        RandomForestClassifier(1, random_state=0),
        GradientBoostingClassifier(n_estimators=1),
        HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=2),
    ],
)
def test_trees_of_scikit_learn(classifier, tmp_path):
    path = tmp_path / "model.lrk"
    model = PairwiseRanker(classifier).fit(X[:, :2], Y[:, :2])
    save(model, path)
    assert (load(path).predict(X[:, :2]) == model.predict(X[:, :2])).all()
    first = model.estimators_[0]
    for of_histogram, name in (("left", "left_child"), ("feature_idx", "feature")):
        if hasattr(first, "_predictors"):
            nodes = first._predictors[0][0].nodes
            before, nodes[of_histogram][0] = nodes[of_histogram][0].copy(), 10**6
        else:
            tree = np.ravel(first.estimators_)[0].tree_
            state = tree.__getstate__()
            before, state["nodes"][name][0] = state["nodes"][name][0].copy(), 10**6
            tree.__setstate__(state)
        save(model, path)
        with pytest.raises(ValueError, match="out of range"):
            load(path)
        if hasattr(first, "_predictors"):
            nodes[of_histogram][0] = before
        else:
            state["nodes"][name][0] = before
            tree.__setstate__(state)


def test_an_index_of_neighbors(tmp_path):
    path = tmp_path / "model.lrk"
    model = KNeighborsRanker(algorithm="kd_tree").fit(X, Y)
    tree = model.search_._tree
    state = [*tree.__getstate__()]
    rows = np.array(state[1])
    rows[0] = 10**9
    state[1] = rows
    tree.__setstate__(tuple(state))
    save(model, path)
    with pytest.raises(ValueError, match="index of the model is out of range"):
        load(path)


def test_a_sparse_matrix(tmp_path):
    path = tmp_path / "model.lrk"
    model = KNeighborsRanker(algorithm="brute").fit(sparse.csr_array(np.where(X > 0, X, 0)), Y)
    save(model, path)
    load(path)
    model.search_._fit_X.indices[0] = 10**6
    save(model, path)
    with pytest.raises(ValueError, match="indices"):
        load(path)


def test_a_random_generator(tmp_path):
    path = tmp_path / "model.lrk"
    model = RandomForestRanker(1, random_state=0).fit(X, Y)
    save(model.set_params(random_state=np.random.RandomState(0)), path)
    load(path)
    about, schema, files = unpacked(path)
    text = json.dumps(schema)
    assert text.count('"content": "624"') == 1
    packed(path, about, text.replace('"content": "624"', '"content": "1000000000"'), files)
    # NumPy 2.5 and later refuses the position itself.
    with pytest.raises(ValueError, match=r"model.lrk: not a model that this version can load.*position"):
        load(path)
