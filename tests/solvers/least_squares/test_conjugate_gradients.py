"""Conjugate gradients: solutions, systems without one, and where rounding wins."""

import numpy as np
from numpy.testing import assert_allclose

from labelrank.solvers.base import Run, Stop
from labelrank.solvers.least_squares.conjugate_gradients import conjugate_gradients


def solve(product, right, start=None, tol=1e-10, max_iter=1000):
    run = Run(np.zeros_like(right) if start is None else start, Stop(max_iter, tol), None)
    conjugate_gradients(product, right, run, lambda z, r: float(-z @ (right + r) / 2))
    return run.state


def test_the_solution():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 20))
    A, b = A @ A.T + np.eye(20), rng.normal(size=20)
    expected = np.linalg.solve(A, b)
    found = solve(lambda z: A @ z, b, tol=1e-12)
    assert_allclose(found.coef, expected, rtol=1e-8)
    assert found.converged
    assert found.gap <= 1e-12
    assert np.all(np.diff(found.loss_curve) <= 1e-12)
    assert_allclose(found.loss_curve[-1], -b @ expected / 2)
    warm = solve(lambda z: A @ z, b, start=expected)
    assert warm.n_iter == 0


def test_systems_without_a_solution_keep_the_best_iterate():
    singular = solve(lambda z: np.array([z[0], 0.0]), np.array([1.0, 1.0]))
    assert singular.gap <= 1
    assert not singular.converged
    assert np.isfinite(singular.coef).all()
    overflowing = solve(lambda z: np.inf * z, np.ones(3))
    assert overflowing.gap == 1
    assert not overflowing.coef.any()


def test_a_residual_that_rounding_keeps_above_the_tolerance():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    A = (Q * np.logspace(0, -14, 30)) @ Q.T
    b = A @ rng.normal(size=30) + 1e-3 * Q[:, -1]
    found = solve(lambda z: A @ z, b, tol=1e-14, max_iter=5000)
    assert found.gap <= 1
    assert_allclose(found.gap, np.linalg.norm(A @ found.coef - b) / np.linalg.norm(b), rtol=1e-3)
