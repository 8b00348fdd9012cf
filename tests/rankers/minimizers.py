"""Data and helpers for tests of the learners that minimize an objective."""

import warnings

import numpy as np
from scipy import sparse

from labelrank.datasets import make_label_ranking


def rankings(n_samples=40, n_labels=4, concentration=5.0):
    """Rankings that follow three features, with noise."""
    return make_label_ranking(n_samples, 3, n_labels=n_labels, concentration=concentration, random_state=0)


def features_of_labels(n_samples=20, n_labels=3, n_features=2):
    """Features of instance and label, and rankings that follow them."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(n_samples, n_labels, n_features))
    utility = H @ rng.normal(size=n_features) + 0.3 * rng.normal(size=(n_samples, n_labels))
    return H, np.argsort(np.argsort(-utility, axis=1), axis=1) + 1.0


def quiet(estimator, *args, **kwargs):
    """Fit without warnings, of convergence and others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(*args, **kwargs)


def fitted_attributes(estimator):
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


def assert_same_model(estimator, before):
    """The fitted attributes are those of `before`, no more, no less, and not changed in place."""
    assert set(fitted_attributes(estimator)) == set(before)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(estimator, name), value)


def in_parts(X):
    """A sparse matrix equal to X with every entry stored as two, in an order that is not sorted."""
    whole = sparse.csr_array(X)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(whole.indptr))
    order = np.lexsort((-whole.indices, rows))
    data = np.column_stack([3 * whole.data[order], -2 * whole.data[order]]).ravel()
    return sparse.csr_array((data, np.repeat(whole.indices[order], 2), 2 * whole.indptr), X.shape)


def assert_fit_reads_only(estimator, X, y):
    """A fit gives the same scores for dense, sparse and strangely stored X, writable or not, and leaves X alone."""
    expected = quiet(estimator, X.copy(), y).decision_function(X)
    for data in (X.copy(), sparse.csr_array(X), in_parts(X)):
        arrays = [data.data, data.indices, data.indptr] if sparse.issparse(data) else [data]
        before = [array.copy() for array in arrays]
        for lock in (False, True):
            for array in arrays:
                array.flags.writeable = not lock
            np.testing.assert_allclose(quiet(estimator, data, y).decision_function(data), expected, atol=1e-10)
            for now, then in zip(arrays, before, strict=True):
                np.testing.assert_array_equal(now, then)
