from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from labelrank.datasets import load_digits_rankings, load_fried, load_iris_rankings, load_wine_rankings


@pytest.mark.parametrize(
    ("load", "shape", "n_labels"),
    [
        (load_iris_rankings, (150, 4), 3),
        (load_wine_rankings, (178, 13), 3),
        (load_digits_rankings, (1797, 64), 10),
        (load_fried, (40_768, 9), 5),
    ],
)
def test_loaders(load, shape, n_labels):
    bunch = load()
    assert set(bunch) >= {"data", "target", "feature_names", "label_names", "DESCR"}
    assert bunch.data.shape == shape
    assert bunch.target.shape == (shape[0], n_labels)
    assert len(bunch.feature_names) == shape[1]
    assert len(bunch.label_names) == n_labels
    np.testing.assert_array_equal(np.sort(bunch.target, axis=1)[[0, -1]], np.tile(np.arange(1, n_labels + 1), (2, 1)))
    X, y = load(return_X_y=True)
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal(y, bunch.target)


def test_most_instances_have_their_class_first():
    from sklearn.datasets import load_iris

    best = load_iris_rankings().target.argmin(axis=1)
    assert (best == load_iris().target).mean() == pytest.approx(0.96)


def test_fried_smaller_set_is_a_part_and_can_be_learnt():
    X, y = load_fried(1500, return_X_y=True)
    np.testing.assert_array_equal(X, load_fried(2000).data[:1500])
    assert np.abs(y.mean(axis=0) - 3).max() < 0.15  # no label is best everywhere
    model = RandomForestRegressor(20, random_state=0, n_jobs=1).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > 0.3


def test_fried_formula():
    X, y = load_fried(return_X_y=True)
    a, b, c, d, e = X[:, 2:7].T
    value = 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
    correlations = [np.corrcoef(value, y[:, j])[0, 1] for j in range(5)]
    assert np.argmin(correlations) == 2  # high value, small rank
    with pytest.raises(ValueError, match="'n_samples' parameter of load_fried must be"):
        load_fried(0)
