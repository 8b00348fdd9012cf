"""Ridge systems: one penalty, all penalties, and penalties below rounding."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from labelrank.solvers.least_squares.basis import basis_factor
from labelrank.solvers.least_squares.ridge import decompose, shrink, solve


def test_all_penalties_equal_each():
    X = np.random.default_rng(0).normal(size=(20, 4))
    gram, target, alphas = np.asfortranarray(X.T @ X), X.T @ X[:, 0], np.logspace(-3, 3, 7)
    each = [solve(gram, target, alpha) for alpha in alphas]
    values, vectors = decompose(gram)
    path = vectors @ ((vectors.T @ target)[:, None] * shrink(values, alphas))
    assert_allclose(path.T, each, rtol=1e-10, atol=1e-13)  # some coefficients are a millionth of the largest


def test_penalty_below_rounding():
    gram = np.diag([1.0, 1.0, 0.0])
    assert solve(gram, np.ones(3), 1e-17) is None
    values, _ = decompose(gram)
    with pytest.warns(UserWarning, match="1 of 3 directions"):
        shrunk = shrink(values, np.array([1.0, 1e-17]))
    assert_allclose(shrunk, [[1, 0], [0.5, 1], [0.5, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shrink(values, np.array([1e-8]))


def test_indefinite_and_infinite():
    with pytest.raises(ValueError, match="not positive semi-definite: its smallest eigenvalue is -1, its largest 2"):
        decompose(np.diag([-1.0, 2.0]))
    for gram, target in (([[np.inf]], [1.0]), ([[1.0]], [np.nan])):
        with pytest.raises(ValueError, match="too large for floating point"):
            solve(np.array(gram), np.array(target), 1.0)


def test_dependent_basis_vectors():
    K = np.ones((4, 4))
    K[3, :3] = K[:3, 3] = 0
    with pytest.warns(UserWarning, match="4 basis vectors has numerical rank 2: 2 of them"):
        factor, kept = basis_factor(K)
    assert_allclose(np.tril(factor) @ np.tril(factor).T, K[np.ix_(kept, kept)], atol=1e-15)
