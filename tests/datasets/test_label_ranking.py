from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from labelrank import ranks_from_scores
from labelrank.datasets import make_label_ranking
from labelrank.datasets.label_ranking import mallows_noise, tie_neighbors


def kendall_distance(a, b):
    pairs = itertools.combinations(range(a.shape[1]), 2)
    return sum(((a[:, i] - a[:, j]) * (b[:, i] - b[:, j]) < 0).astype(int) for i, j in pairs)


def test_shapes_and_complete_strict_ranks():
    X, y = make_label_ranking(30, 4, n_labels=6, random_state=0)
    assert X.shape == (30, 4)
    assert y.shape == (30, 6)
    assert y.dtype == np.float64
    np.testing.assert_array_equal(np.sort(y, axis=1), np.tile(np.arange(1, 7), (30, 1)))


def test_same_seed_same_data_other_seed_other_data():
    first, again, other = (make_label_ranking(20, random_state=s, missing=0.3, ties=0.2) for s in (3, 3, 4))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


def test_random_state_instance_moves_on():
    rng = np.random.RandomState(0)
    assert not np.array_equal(make_label_ranking(random_state=rng)[0], make_label_ranking(random_state=rng)[0])


def test_later_stages_leave_the_earlier_ones_alone():
    X, y, u = make_label_ranking(200, random_state=0, return_utilities=True)
    X2, y2, u2 = make_label_ranking(200, random_state=0, return_utilities=True, missing=0.4)
    np.testing.assert_array_equal(X, X2)
    np.testing.assert_array_equal(u, u2)
    seen = ~np.isnan(y2)
    np.testing.assert_array_equal(y[seen], y2[seen])


def test_without_noise_the_ranking_is_that_of_the_utilities():
    _, y, u = make_label_ranking(50, noise=None, random_state=0, return_utilities=True)
    np.testing.assert_array_equal(y, ranks_from_scores(u))


def test_utilities_are_linear_or_not():
    X, _, u = make_label_ranking(2000, 5, noise=None, return_utilities=True, random_state=0)
    assert LinearRegression().fit(X, u).score(X, u) == pytest.approx(1)
    X, _, u = make_label_ranking(2000, 5, utilities="nonlinear", noise=None, return_utilities=True, random_state=0)
    assert LinearRegression().fit(X, u).score(X, u) < 0.4
    assert KNeighborsRegressor(10).fit(X[:1500], u[:1500]).score(X[1500:], u[1500:]) > 0.3  # yet learnable
    assert 0.5 < u.var() < 1.6


def test_plackett_luce_first_place_follows_the_softmax_of_utilities():
    # One instance seen many times would need a fixed utility; instead average P(label is first) over instances.
    _, y, u = make_label_ranking(40_000, 3, n_labels=4, concentration=2.0, return_utilities=True, random_state=0)
    weights = np.exp(2.0 * u)
    expected = weights / weights.sum(axis=1, keepdims=True)
    first = y == 1
    for label in range(4):
        for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 1.0)):
            rows = (expected[:, label] >= low) & (expected[:, label] < high)
            assert first[rows, label].mean() == pytest.approx(expected[rows, label].mean(), abs=0.02)


def test_plackett_luce_at_zero_is_uniform():
    _, y = make_label_ranking(6000, n_labels=3, concentration=0.0, random_state=0)
    counts = np.unique(y, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert np.abs(counts / 6000 - 1 / 6).max() < 0.02


def expected_mallows_distance(m, theta):
    i = np.arange(1, m + 1)
    phi = np.exp(-theta)
    return m * phi / (1 - phi) - np.sum(i * phi**i / (1 - phi**i))


@pytest.mark.parametrize("theta", [0.1, 0.7, 2.0])
@pytest.mark.parametrize("n_labels", [2, 5, 8])
def test_mallows_mean_distance(theta, n_labels):
    n = 20_000
    _, y, u = make_label_ranking(
        n, n_labels=n_labels, noise="mallows", concentration=theta, return_utilities=True, random_state=1
    )
    distance = kendall_distance(y, ranks_from_scores(u))
    tolerance = 4 * distance.std() / np.sqrt(n)
    assert distance.mean() == pytest.approx(expected_mallows_distance(n_labels, theta), abs=tolerance)


def test_mallows_probability_of_every_ranking():
    center = np.tile([2.0, 1.0, 3.0], (60_000, 1))
    y = mallows_noise(np.random.RandomState(0), center, 0.5)
    rankings, counts = np.unique(y, axis=0, return_counts=True)
    weights = np.exp(-0.5 * kendall_distance(rankings, center[:6]))
    np.testing.assert_allclose(counts / counts.sum(), weights / weights.sum(), atol=0.008)


def test_mallows_extremes():
    center = np.tile([3.0, 1.0, 4.0, 2.0], (6000, 1))
    np.testing.assert_array_equal(mallows_noise(np.random.RandomState(0), center, 1000.0), center)
    uniform = mallows_noise(np.random.RandomState(0), center, 0.0)
    counts = np.unique(uniform, axis=0, return_counts=True)[1]
    assert len(counts) == 24
    assert np.abs(counts / 6000 - 1 / 24).max() < 0.012


def test_ties_remove_boundaries():
    _, strict = make_label_ranking(5000, n_labels=6, random_state=0)
    _, y = make_label_ranking(5000, n_labels=6, ties=0.3, random_state=0)
    n_groups = np.array([len(np.unique(row)) for row in y])
    assert n_groups.mean() == pytest.approx(1 + 5 * 0.7, abs=0.06)
    np.testing.assert_array_equal(y, ranks_from_scores(-y))  # 1 + the number of better labels
    assert kendall_distance(strict, y).max() == 0  # no pair is turned round


def test_all_tied():
    assert (make_label_ranking(5, ties=1.0, random_state=0)[1] == 1).all()


def test_tie_neighbors_by_hand():
    class Coins:
        def random_sample(self, shape):
            return np.array([[0.9, 0.1, 0.9], [0.1, 0.1, 0.1], [0.9, 0.9, 0.9]])

    ranks = np.array([[2.0, 4.0, 1.0, 3.0], [1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]])
    expected = [[2, 4, 1, 2], [1, 1, 1, 1], [4, 3, 2, 1]]
    np.testing.assert_array_equal(tie_neighbors(Coins(), ranks, 0.5), expected)


def test_missing_random_and_top():
    _, y = make_label_ranking(4000, n_labels=5, missing=0.3, random_state=0)
    assert np.isnan(y).mean() == pytest.approx(0.3, abs=0.01)
    _, y = make_label_ranking(50, n_labels=5, missing=0.4, missing_how="top", random_state=0)
    np.testing.assert_array_equal(np.sort(y, axis=1)[:, :3], np.tile([1, 2, 3], (50, 1)))
    assert np.isnan(y).sum() == 100


def test_one_label():
    for noise in ("plackett_luce", "mallows", None):
        _, y = make_label_ranking(3, n_labels=1, noise=noise, ties=0.5, random_state=0)
        np.testing.assert_array_equal(y, np.ones((3, 1)))


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("n_samples", 0),
        ("n_features", 2.5),
        ("n_labels", "3"),
        ("utilities", "quadratic"),
        ("noise", "gauss"),
        ("concentration", -1),
        ("concentration", float("inf")),
        ("ties", 1.5),
        ("missing", -0.1),
        ("missing_how", "bottom"),
    ],
)
def test_bad_arguments_are_named(argument, value):
    with pytest.raises(ValueError, match=f"^The '{argument}' parameter of make_label_ranking must be"):
        make_label_ranking(**{argument: value})
