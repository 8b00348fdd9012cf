"""Searches of scikit-learn and AutoRanker over a cluster, by joblib's Dask backend."""

import os

import numpy as np
from joblib import parallel_config
from sklearn.model_selection import KFold, cross_val_score

from labelrank import AutoRanker, KNeighborsRanker, RandomForestRanker
from labelrank.datasets import load_wine_rankings

X, Y = load_wine_rankings(return_X_y=True)
FOLDS = KFold(3, shuffle=True, random_state=0)


def test_cross_validation(client):
    model = RandomForestRanker(5, random_state=0)
    expected = cross_val_score(model, X, Y, cv=FOLDS)
    with parallel_config("dask", client=client):
        found = cross_val_score(model, X, Y, cv=FOLDS)
        processes = cross_val_score(model, X, Y, cv=FOLDS, scoring=lambda *args: float(os.getpid()))
    np.testing.assert_array_equal(found, expected)
    assert set(processes) <= set(map(float, client.run(os.getpid).values()))


def test_auto_ranker(client):
    candidates = {"near": KNeighborsRanker(5), "trees": RandomForestRanker(5, random_state=0)}
    auto = AutoRanker(time_budget=None, candidates=candidates, cv=2, random_state=0)
    expected = auto.fit(X, Y)
    board, scores = expected.leaderboard_, expected.decision_function(X)
    with parallel_config("dask", client=client):
        auto.fit(X, Y)
    np.testing.assert_array_equal(auto.decision_function(X), scores)
    np.testing.assert_array_equal(auto.leaderboard_["mean"], board["mean"])


def test_threads_stay_threads(client):
    """What threads write to the same memory is no work for other processes."""
    model, rows = RandomForestRanker(3, random_state=0).fit(X, Y), np.tile(X, (150, 1))
    expected = model.decision_function(rows)
    with parallel_config("dask", client=client):
        np.testing.assert_array_equal(model.set_params(n_jobs=2).decision_function(rows), expected)
