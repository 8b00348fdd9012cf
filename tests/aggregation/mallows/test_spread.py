"""Mean distance, theta and pair probabilities against all permutations, the printed formulas and SciPy."""

import math

import numpy as np
import pytest
from aggregation.mallows.strategies_of_mallows import NAN, THETAS, centers
from hypothesis import given
from hypothesis import strategies as st
from oracles import mallows as oracle
from scipy.optimize import minimize_scalar

from labelrank.aggregation.mallows import Mallows, mean_distance, theta_from_mean_distance

INF = math.inf


# ---------------------------------------------------------------------------------------------------------------
# Normaliser, mean distance, pair probabilities
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


def test_kernel_caps_theta():
    from labelrank._kernels.aggregation.mallows import theta_from_mean_distance as kernel
    from labelrank._kernels.aggregation.mallows import theta_from_pairs

    assert kernel(0.0, 4, 5.0) == 5.0
    assert kernel(1e-9, 4, 5.0) == 5.0
    assert kernel(1.0, 4, 5.0) == pytest.approx(theta_from_mean_distance(1.0, 4))
    assert math.isnan(kernel(NAN, 4, 5.0))
    center = np.array([1.0, 2.0])
    assert theta_from_pairs(np.array([[0.0, 3.0], [0.0, 0.0]]), center, 5.0) == 5.0
    assert theta_from_pairs(np.array([[0.0, 3.0], [1.0, 0.0]]), center, 5.0) == pytest.approx(math.log(3))
    assert theta_from_pairs(np.array([[0.0, 3.0], [1.0, 0.0]]), center, 0.5) == 0.5


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
def test_theta_from_pairs_maximises_the_composite_likelihood(table):
    from labelrank._kernels.aggregation.mallows import theta_from_pairs

    counts, center = table
    theta = theta_from_pairs(counts, np.array(center, dtype=float), 3.0)
    found = minimize_scalar(
        lambda t: -oracle.composite_log_likelihood(counts, center, t),
        bounds=(1e-4, 3.0),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert 0.0 <= theta <= 3.0
    here = oracle.composite_log_likelihood(counts, center, max(theta, 1e-4))
    assert here >= -found.fun - 1e-6 * (1 + abs(found.fun))


def test_log_probabilities_of_pairs_are_concave():
    """The slope of the composite likelihood then changes its sign once, and Newton with bisection finds where."""
    from labelrank._kernels.aggregation.mallows import pair_score

    thetas = np.r_[0.0, np.logspace(-6, 2.5, 100)]
    for n in (2, 5, 60, 400):
        for m in {1, n // 2, n - 1}:
            one, none = np.zeros(n), np.zeros(n)
            one[m] = 1.0
            for agree, against in ((one, none), (none, one)):
                curvature = [pair_score(theta, agree, against)[1] for theta in thetas]
                assert max(curvature) <= 1e-10 * m * m


def test_no_pairs_no_spread():
    from labelrank._kernels.aggregation.mallows import theta_from_pairs

    assert theta_from_pairs(np.zeros((3, 3)), np.array([1.0, 2.0, 3.0]), INF) == 0.0
    assert theta_from_pairs(np.ones((3, 3)), np.array([1.0, 2.0, 3.0]), INF) == 0.0
    assert theta_from_pairs(np.zeros((1, 1)), np.array([1.0]), INF) == 0.0
