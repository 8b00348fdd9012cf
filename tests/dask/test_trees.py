"""Forests and neighbors on a cluster are those of the local classes."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from scipy import sparse

import labelrank
import labelrank.dask
from labelrank.datasets import load_wine_rankings

X, Y = load_wine_rankings(return_X_y=True)
CHUNKS = (50, 0, 70, 58)  # with an empty partition
WEIGHT = np.random.default_rng(0).random(len(X)) + 0.1


def partitioned(array, chunks=CHUNKS):
    return da.from_array(array, chunks=(chunks, *((n,) for n in array.shape[1:])))


def assert_same(found, expected):
    """The same fitted attributes."""
    ignored = {"client"}
    assert {name for name in vars(found) if name.endswith("_")} == {n for n in vars(expected) if n.endswith("_")}
    for name, value in vars(expected).items():
        if name.endswith("_") and isinstance(value, np.ndarray) and value.dtype != object and name not in ignored:
            np.testing.assert_array_equal(getattr(found, name), value, err_msg=name)


@pytest.mark.parametrize(
    ("name", "params"),
    [("RandomForestRanker", {"oob_score": True}), ("ExtraTreesRanker", {"criterion": "vote_variance"})],
)
def test_forests(client, name, params):
    params = {"n_estimators": 6, "random_state": 0, **params}
    expected = getattr(labelrank, name)(**params).fit(X, Y, WEIGHT)
    model = getattr(labelrank.dask, name)(**params, client=client)
    found = model.fit(partitioned(X), partitioned(Y), partitioned(WEIGHT))
    assert_same(found, expected)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    ranks = labelrank.dask.predict(found, partitioned(X))
    np.testing.assert_array_equal(ranks.compute(), expected.predict(X))


def test_a_forest_on_sparse_blocks_with_missing_values(client):
    thin = np.where(X.mean(axis=0) < X, X, 0.0)
    thin[3, 4] = np.nan
    blocks = partitioned(thin).map_blocks(sparse.csr_array)
    params = {"n_estimators": 4, "random_state": 0}
    expected = labelrank.RandomForestRanker(**params).fit(sparse.csr_array(thin), Y)
    found = labelrank.dask.RandomForestRanker(**params, client=client).fit(blocks, partitioned(Y))
    assert_same(found, expected)


def test_a_forest_on_dense_and_sparse_blocks(client):
    blocks = da.concatenate([partitioned(X[:70], (70,)), partitioned(X[70:], (108,)).map_blocks(sparse.csr_array)])
    params = {"n_estimators": 2, "random_state": 0}
    expected = labelrank.ExtraTreesRanker(**params).fit(sparse.csr_array(X), Y)
    found = labelrank.dask.ExtraTreesRanker(**params, client=client).fit(blocks, partitioned(Y, (70, 108)))
    assert_same(found, expected)


def test_a_forest_too_large_for_the_workers(client, monkeypatch):
    wide = da.zeros((200_000, 500), chunks=(50_000, -1))  # the workers have 1 GiB
    y = da.map_blocks(
        lambda rows: np.tile([1.0, 2.0], (len(rows), 1)), wide, chunks=(wide.chunks[0], (2,)), dtype=float
    )
    model = labelrank.dask.RandomForestRanker(2, client=client)
    wide, y = wide[:80_000], y[:80_000]
    with pytest.raises(
        MemoryError, match=r"needs all 80000 rows on a worker, about .* GiB, and the largest memory limit"
    ):
        model.fit(wide, y)


def test_neighbors(client):
    rows, y = np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0)  # every distance is tied
    chunks = (100, 0, 140, 116)
    expected = labelrank.KNeighborsRanker(5).fit(rows, y)
    found = labelrank.dask.KNeighborsRanker(5, client=client).fit(partitioned(rows, chunks), partitioned(y, chunks))
    queries = partitioned(X + 0.01)
    proba = labelrank.dask.predict(found, queries, "pairwise_proba")
    np.testing.assert_array_equal(found.kneighbors(X).rows, expected.kneighbors(X).rows)
    np.testing.assert_array_equal(proba.compute(), expected.pairwise_proba(X + 0.01))


@pytest.mark.parametrize("name", ["ExtraTreesRanker", "GradientBoostingRanker"])
def test_categories_of_a_frame_are_those_of_all_partitions(client, name):
    colors = np.array(["red", "blue", "green", "gray"])[(X[:, 0] * 7).astype(int) % 4]
    colors[:90] = np.where(colors[:90] == "gray", "red", colors[:90])  # one is in the last partition only
    features = pd.DataFrame({"acid": X[:, 1], "color": pd.Series(colors, dtype="category"), "ash": X[:, 2]})
    ranks = pd.DataFrame(Y, columns=list("abc"))
    params = {"random_state": 0, "categorical_features": ["color"]}
    params |= {"max_iter": 2, "max_leaf_nodes": 4} if name == "GradientBoostingRanker" else {"n_estimators": 3}
    expected = getattr(labelrank, name)(**params).fit(features, ranks)
    parts, y = [features[:90], features[90:]], partitioned(Y, (90, 88))
    rows = dd.from_delayed(list(map(delayed, parts)), meta=features[:0])
    found = getattr(labelrank.dask, name)(**params, client=client).fit(rows, dd.from_dask_array(y, columns=list("abc")))
    assert found.categories_[1].tolist() == expected.categories_[1].tolist()
    assert found.feature_names_in_.tolist() == ["acid", "color", "ash"]
    np.testing.assert_array_equal(found.feature_, expected.feature_)
    scores = labelrank.dask.predict(found, rows, "decision_function")
    np.testing.assert_allclose(scores.compute().to_numpy(), expected.decision_function(features))
    for other in (parts[1][features.columns[::-1]], parts[1][["color"]]):
        rows = dd.from_delayed([delayed(parts[0]), delayed(other)], meta=features[:0], verify_meta=False)
        with pytest.raises(ValueError, match=r"partition 1 of X has the feature names \[.*'color'.*; give every part"):
            getattr(labelrank.dask, name)(**params, client=client).fit(rows, y)
