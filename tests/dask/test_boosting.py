"""Boosted trees on a cluster have the splits of the local class, and its leaf values up to rounding."""

import os
import signal

import dask.array as da
import numpy as np
import pytest
from scipy import sparse

import labelrank
import labelrank.dask
from labelrank.dask.rows import PartitionedRows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 6))
X[:, 3] = RNG.integers(0, 5, 400)
X[RNG.random(X.shape) < 0.05] = np.nan
Y = np.argsort(np.argsort(np.nan_to_num(X) @ RNG.normal(size=(6, 4)) + RNG.normal(size=(400, 4)), axis=1), axis=1) + 1.0
Y[RNG.random(Y.shape) < 0.2] = np.nan
WEIGHT = RNG.random(400) + 0.5
CHUNKS = (130, 0, 70, 150, 50)


def partitioned(array):
    return da.from_array(array, chunks=(CHUNKS, *((n,) for n in array.shape[1:])))


def assert_same(found, expected):
    assert found.n_iter_ == expected.n_iter_
    for name in ("feature_", "children_left_", "children_right_", "bin_", "missing_left_", "n_node_samples_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    np.testing.assert_array_equal(found.threshold_, expected.threshold_)
    np.testing.assert_array_equal(found.left_bins_, expected.left_bins_)
    np.testing.assert_array_equal(found.had_missing_, expected.had_missing_)
    for name in ("value_", "baseline_", "train_score_", "validation_score_"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=0, atol=1e-8, err_msg=name)


@pytest.mark.parametrize(
    ("params", "thin"),
    [
        ({"categorical_features": [3]}, False),
        ({"categorical_features": [3]}, True),
        ({"subsample": 0.6, "max_features": 0.5, "early_stopping": True}, False),
        ({"loss": "plackett_luce", "max_bins": 20}, True),
    ],
)
def test_boosted_trees(client, params, thin):
    params = {"max_iter": 2, "max_leaf_nodes": 4, "random_state": 0, **params}
    rows = np.where(np.abs(X) < 0.5, 0.0, X) if thin else X
    blocks = partitioned(rows).map_blocks(sparse.csr_array) if thin else partitioned(rows)
    local = labelrank.GradientBoostingRanker(**params, on_empty="ignore")
    expected = local.fit(sparse.csr_array(rows) if thin else rows, Y, WEIGHT)
    model = labelrank.dask.GradientBoostingRanker(**params, on_empty="ignore", client=client)
    found = model.fit(blocks, partitioned(Y), partitioned(WEIGHT))
    assert_same(found, expected)
    np.testing.assert_array_equal(found.predict(rows), expected.predict(rows))


def test_a_warm_start_continues(client):
    params = {"max_leaf_nodes": 5, "on_empty": "ignore", "random_state": 0}
    expected = labelrank.GradientBoostingRanker(max_iter=4, **params).fit(X, Y)
    model = labelrank.dask.GradientBoostingRanker(max_iter=2, warm_start=True, client=client, **params)
    model.fit(partitioned(X), partitioned(Y)).set_params(max_iter=4).fit(partitioned(X), partitioned(Y))
    assert_same(model, expected)


def test_a_worker_killed_while_a_tree_grows_changes_nothing(client, monkeypatch):
    calls, part = [], PartitionedRows.part

    def killing(rows, *split):
        calls.append(split)
        if len(calls) == 7:  # the second tree has two splits
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        return part(rows, *split)

    monkeypatch.setattr(PartitionedRows, "part", killing)
    params = {"max_iter": 3, "max_leaf_nodes": 5, "subsample": 0.7, "on_empty": "ignore", "random_state": 0}
    expected = labelrank.GradientBoostingRanker(**params).fit(X, Y)
    found = labelrank.dask.GradientBoostingRanker(**params, client=client).fit(partitioned(X), partitioned(Y))
    assert len(calls) == 12
    assert_same(found, expected)
    client.wait_for_workers(2)
