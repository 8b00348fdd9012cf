"""Mean distance, theta and pair probabilities against all permutations, the printed formulas and SciPy."""

import math

import numpy as np
import pytest
from aggregation.mallows.strategies_of_mallows import NAN, THETAS, centers
from hypothesis import given
from hypothesis import strategies as st
from oracles import mallows as oracle

from labelrank import as_graphs
from labelrank.aggregation.mallows import (
    Mallows,
    mean_distance,
    pair_probabilities,
    spread_of_counts,
    theta_from_mean_distance,
)

INF = math.inf


# ---------------------------------------------------------------------------------------------------------------
# Normalizer, mean distance, pair probabilities
# ---------------------------------------------------------------------------------------------------------------


@given(st.integers(1, 6), THETAS)
def test_normalizer_and_mean_distance_are_those_of_all_permutations(n, theta):
    center = np.arange(1.0, n + 1)
    log_phi = -Mallows.from_params(center, theta).logpmf([center])[0]
    assert log_phi == pytest.approx(math.log(oracle.normalizer(theta, n)), rel=1e-12, abs=1e-12)
    assert mean_distance(theta, n) == pytest.approx(oracle.mean_distance(theta, n), rel=1e-11, abs=1e-14)


@given(centers(), THETAS)
def test_pair_probabilities_are_those_of_all_permutations(center, theta):
    p = Mallows.from_params(center, theta).pairwise_proba()
    np.testing.assert_allclose(p, oracle.pairwise_proba(center, theta), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(p + p.T, 1.0, rtol=1e-15)


@pytest.mark.parametrize("theta", [0.01, 0.3, 1.0, 4.0])
def test_pair_probabilities_are_the_printed_formula(theta):
    p = Mallows.from_params(range(60), theta).pairwise_proba()
    expected = [oracle.pair_probability(m, theta) for m in range(1, 60)]
    np.testing.assert_allclose(p[0, 1:], expected, rtol=1e-9)


@pytest.mark.parametrize("n", [2, 3, 10, 300])
@pytest.mark.parametrize("theta", [0.05, 0.8, 3.0])
def test_mean_distance_is_the_printed_formula(n, theta):
    j = np.arange(2, n + 1)
    with np.errstate(over="ignore"):
        expected = (n - 1) / np.expm1(theta) - (j / np.expm1(j * theta)).sum()
    assert mean_distance(theta, n) == pytest.approx(expected, rel=1e-9)


def test_mean_distance_at_the_ends():
    assert mean_distance(0.0, 7) == 7 * 6 / 4
    assert mean_distance(1e-300, 7) == 7 * 6 / 4
    # The variance of the distance of random rankings is the slope at 0.
    assert (mean_distance(0.0, 7) - mean_distance(1e-6, 7)) / 1e-6 == pytest.approx(7 * 6 * 19 / 72, rel=1e-5)
    assert mean_distance(50.0, 7) == pytest.approx(6 * math.exp(-50.0), rel=1e-12)
    assert mean_distance(INF, 7) == 0.0
    assert mean_distance(0.7, 1) == 0.0


def test_mean_distance_takes_arrays():
    theta = np.array([[0.0, 1.0], [2.0, INF]])
    result = mean_distance(theta, 5)
    assert result.shape == (2, 2)
    np.testing.assert_array_equal(result, [[mean_distance(t, 5) for t in row] for row in theta])
    assert isinstance(mean_distance(1.0, 5), float)


# ---------------------------------------------------------------------------------------------------------------
# Theta from distances
# ---------------------------------------------------------------------------------------------------------------


@given(st.integers(2, 200), st.floats(1e-4, 600.0))
def test_theta_comes_back_from_the_mean_distance(n, theta):
    assert theta_from_mean_distance(mean_distance(theta, n), n) == pytest.approx(theta, rel=1e-9)


@given(st.integers(2, 200), st.floats(0.0, 1.0, exclude_min=True, exclude_max=True))
def test_the_mean_distance_comes_back_from_theta(n, share):
    distance = share * n * (n - 1) / 4
    assert mean_distance(theta_from_mean_distance(distance, n), n) == pytest.approx(distance, rel=1e-9)


def test_theta_at_the_ends():
    assert theta_from_mean_distance(3.0, 4) == 0.0
    assert theta_from_mean_distance(6.0, 4) == 0.0
    assert theta_from_mean_distance(0.0, 4) == INF
    assert theta_from_mean_distance(0.0, 1) == 0.0
    result = theta_from_mean_distance([[0.0, 1.0, 5.0]], 4)
    assert result.shape == (1, 3)
    assert result[0, 1] == theta_from_mean_distance(1.0, 4)
    assert isinstance(theta_from_mean_distance(1.0, 4), float)
    assert theta_from_mean_distance([], 4).shape == (0,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_distance(-0.1, 4), "theta must be numbers of at least 0, got -0.1"),
        (lambda: mean_distance(NAN, 4), "theta must be numbers"),
        (lambda: mean_distance(1.0, 0), "n_labels must be an integer of at least 1, got 0"),
        (lambda: mean_distance(1.0, 2.5), "n_labels must be an integer"),
        (lambda: theta_from_mean_distance(-1.0, 4), "distance must be finite numbers of at least 0, got -1.0"),
        (lambda: theta_from_mean_distance([1.0, INF], 4), "distance must be finite numbers"),
    ],
)
def test_bad_numbers_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---------------------------------------------------------------------------------------------------------------
# Theta from pairs
# ---------------------------------------------------------------------------------------------------------------


@st.composite
def pair_tables(draw):
    n = draw(st.integers(2, 6))
    entries = st.lists(st.integers(0, 20), min_size=n, max_size=n)
    counts = np.array(draw(st.lists(entries, min_size=n, max_size=n)), dtype=float)
    np.fill_diagonal(counts, 0.0)
    return counts, tuple(draw(st.permutations(range(1, n + 1))))


@given(pair_tables())
def test_as_many_pairs_are_expected_to_be_reversed_as_are(table):
    counts, center = table
    theta = spread_of_counts([counts], [center], largest=INF)[0]
    reversed_, expected = oracle.reversed_pairs(counts, center, theta)
    if 0 < theta < INF:
        assert expected == pytest.approx(reversed_, rel=1e-9)
    else:
        assert reversed_ == 0 < counts.sum() if theta == INF else 2 * reversed_ >= counts.sum()
    assert spread_of_counts([counts], [center])[0] == min(theta, 10)


@given(st.integers(2, 6), st.integers(1, 30), st.integers(0, 1000))
def test_spread_of_complete_rankings_is_that_of_their_mean_distance(n_labels, n_rows, seed):
    rng = np.random.default_rng(seed)
    rows, center = (rng.permuted(np.tile(np.arange(1.0, n_labels + 1), (n, 1)), axis=1) for n in (n_rows, 1))
    mean = np.mean([oracle.distance(row, center[0]) for row in rows])
    expected = theta_from_mean_distance(mean, n_labels)
    found = spread_of_counts(as_graphs(rows).pair_counts()[np.newaxis], center, largest=INF)[0]
    assert found == pytest.approx(expected, rel=1e-9)


def test_pairs_that_the_center_ties_say_nothing():
    counts = np.array([[0.0, 3.0, 5.0], [4.0, 0.0, 5.0], [1.0, 1.0, 0.0]])
    alone = np.array([[0.0, 0.0, 5.0], [0.0, 0.0, 5.0], [1.0, 1.0, 0.0]])
    both, one = spread_of_counts([counts, alone], [[1, 1, 3], [1, 1, 3]])
    assert both == one > 0


def test_no_pairs_no_spread():
    center = [[1.0, 2.0, 3.0]]
    for counts in (np.zeros((1, 3, 3)), np.ones((1, 3, 3))):
        assert spread_of_counts(counts, center) == [0.0]
    assert spread_of_counts(np.zeros((1, 1, 1)), [[1.0]]) == [0.0]
    assert spread_of_counts(np.zeros((0, 3, 3)), np.zeros((0, 3))).shape == (0,)


@given(centers(), THETAS)
def test_spread_comes_back_from_pair_probabilities(center, theta):
    p = pair_probabilities([center], [theta])
    if len(center) > 1 and 1e-4 <= theta <= 5:
        assert spread_of_counts(p, [center])[0] == pytest.approx(theta, rel=1e-8)
