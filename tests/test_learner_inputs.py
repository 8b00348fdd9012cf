"""What every learner does with its inputs: entries in parts are summed, and nothing of the caller's is kept."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags
from test_failed_fits import VARIANTS, X, arguments

from labelrank import KNeighborsRanker, RankRLS, SoftProjectionRanker

MORE = [
    *VARIANTS,
    RankRLS(kernel="rbf"),
    RankRLS(kernel="poly", gamma=0.1),
    SoftProjectionRanker(kernel="rbf", tol=1e-9, random_state=0),
    KNeighborsRanker(algorithm="brute"),
]
every_learner = pytest.mark.parametrize("model", MORE, ids=str)


def fitted(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(model)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        return model.fit(**arguments(model, X))


def output(model, X):
    method = next(name for name in ("decision_function", "predict", "transform") if hasattr(model, name))
    found = getattr(model, method)(X)
    return found.toarray() if sparse.issparse(found) else np.asarray(found)


def in_parts(X):
    """A CSR matrix with every entry in two parts, the columns not in order."""
    whole = sparse.csr_array(X)
    data = np.column_stack([1.25 * whole.data, -0.25 * whole.data]).ravel()
    parts = sparse.csr_array((data, np.repeat(whole.indices, 2), 2 * whole.indptr), shape=X.shape)
    assert not parts.has_canonical_format
    return parts


@every_learner
def test_sparse_entries_in_parts(model):
    if not get_tags(model).input_tags.sparse:
        pytest.skip("takes no sparse features")
    data = np.where(X > 1, np.round(X, 3), 0.0)
    parts = in_parts(data)
    before = parts.data.copy()
    expected = fitted(model, sparse.csr_array(data))
    found = fitted(model, parts)
    np.testing.assert_allclose(output(found, parts), output(expected, sparse.csr_array(data)), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(output(expected, parts), output(expected, sparse.csr_array(data)), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(parts.data, before)


@every_learner
@pytest.mark.parametrize("form", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_inputs_may_change_after_a_fit(model, form):
    if form is sparse.csr_array and not get_tags(model).input_tags.sparse:
        pytest.skip("takes no sparse features")
    data, queries = form(X.copy()), form(X.copy())
    found = fitted(model, data)
    before = output(found, queries)
    (data if form is np.array else data.data)[:] = 7.0
    np.testing.assert_array_equal(output(found, queries), before)
