"""Kernels against scikit-learn's, their parameters, and what is refused."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel, sigmoid_kernel
from sklearn.svm import SVC

from labelrank.models.gram import Kernel

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(7, 4)), RNG.normal(size=(5, 4))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_values_equal_scikit_learn(form):
    A, B = form(X), form(Z)
    assert_allclose(Kernel("linear")(A, B), X @ Z.T)
    assert_allclose(Kernel("rbf", gamma=2.0)(A, B), rbf_kernel(X, Z, gamma=2.0), rtol=1e-12)
    assert_allclose(Kernel("poly", 0.5, 2, 3)(A, B), polynomial_kernel(X, Z, degree=2, gamma=0.5, coef0=3))
    assert_allclose(Kernel("sigmoid", 0.5, coef0=-1)(A, B), sigmoid_kernel(X, Z, gamma=0.5, coef0=-1))
    assert_array_equal(Kernel("precomputed")(A), X)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_gamma_is_that_of_svc(form):
    y = np.arange(7) % 2
    for gamma in ("scale", "auto"):
        svc = SVC(gamma=gamma).fit(form(X + 1), y)
        assert Kernel("rbf", gamma).fitted(form(X + 1)).gamma == pytest.approx(svc._gamma)
    assert Kernel("rbf").fitted(form(np.ones((3, 2)))).gamma == 1.0
    assert Kernel("rbf", 0.3).fitted(X).gamma == 0.3


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_weights_are_repeats_in_gamma(form):
    copies = np.array([0, 1, 3, 0, 2, 1, 1])
    weighted = Kernel("rbf").fitted(form(X), copies.astype(float))
    assert weighted.gamma == pytest.approx(Kernel("rbf").fitted(form(np.repeat(X, copies, axis=0))).gamma)


def test_gaussian_kernel_far_from_the_origin():
    near, far = Kernel("rbf", 0.25)(X, Z), Kernel("rbf", 0.25)(X + 1e6, Z + 1e6)
    assert_allclose(far, near, rtol=1e-8)


def test_callables():
    def kernel(A, B, c):
        return A @ B.T + c

    assert_allclose(Kernel(kernel, params={"c": 2})(X, Z), X @ Z.T + 2)
    with pytest.raises(ValueError, match=r"must return a matrix of shape \(7, 5\), .* got shape \(1, 3\)"):
        Kernel(lambda A, B: np.ones((1, 3)))(X, Z)
    with pytest.raises(ValueError, match=r"the kernel has NaN or infinite values: .*; check the function"):
        Kernel(lambda A, B: A @ B.T * np.nan)(X, Z)


@pytest.mark.parametrize("name", ["rbf", "poly", "precomputed", "linear"])
def test_gram_and_scores_of_many_rows(name):
    """More rows than fit into one block of kernel values."""
    many = RNG.normal(size=(1600, 3))
    kernel = Kernel(name, 0.1)
    data = many @ many.T if name == "precomputed" else many
    gram = kernel.gram(data)
    assert_allclose(gram, kernel(data, data), rtol=1e-10, atol=1e-12)
    assert not np.shares_memory(gram, data)
    coef = RNG.normal(size=(1600, 2))
    basis = None if name == "precomputed" else many
    assert_allclose(kernel.scores(data, basis, coef), gram @ coef, rtol=1e-8, atol=1e-8)
    assert_allclose(kernel.scores(data, basis, coef[:, 0]), gram @ coef[:, 0], rtol=1e-8, atol=1e-8)


def test_scores_without_a_basis():
    assert_array_equal(Kernel("rbf", 1.0).scores(X, Z[:0], np.zeros((0, 3))), np.zeros((7, 3)))


@pytest.mark.parametrize("what", [None, "a precomputed label kernel"])
def test_kernel_matrices_are_square_and_symmetric(what):
    named = what or "the precomputed kernel"
    with pytest.raises(ValueError, match=rf"{named} must be square, got shape \(7, 4\)"):
        Kernel("precomputed").gram(X, what)
    skewed = np.eye(4) + np.triu(np.ones((4, 4)))
    with pytest.raises(ValueError, match=f"{named} must be symmetric"):
        Kernel("precomputed").gram(skewed, what)
    with pytest.raises(ValueError, match="the kernel must be symmetric"):
        Kernel(lambda A, B: A @ RNG.normal(size=(4, 4)) @ B.T).gram(X)


def test_values_that_are_too_large():
    X = np.array([[1.0, -2.0], [-3.0, 1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("linear", "rbf", "poly"):
            with pytest.raises(ValueError, match=f"the {name} kernel has NaN or infinite values: too large numbers"):
                Kernel(name, gamma=1.0)(X * 1e200, X * 1e200)
        with pytest.raises(ValueError, match='its variance, for gamma="scale", overflows; scale the features'):
            Kernel("rbf").fitted(X * 1e200)
        with pytest.raises(ValueError, match=r"degree=2\.5 of a negative number; scale the features"):
            Kernel("poly", 0.5, degree=2.5)(X, X)


def test_the_kernel_of_an_estimator():
    class Estimator:
        kernel, gamma, degree, coef0, kernel_params = "rbf", "scale", 2, 0.5, None

    assert Kernel.of(Estimator()) == Kernel("rbf", "scale", 2, 0.5)
    assert Kernel.of(Estimator(), 0.3).gamma == 0.3
    Estimator.kernel_params = {"c": 1}
    with pytest.raises(ValueError, match="kernel_params are for a callable kernel, not for kernel='rbf'"):
        Kernel.of(Estimator())
