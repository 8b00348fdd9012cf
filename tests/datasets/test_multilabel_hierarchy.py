from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from labelrank import PreferenceGraphs
from labelrank.datasets import make_multilabel_hierarchy


def depths(parents):
    depth = np.ones(len(parents), dtype=int)
    for i, parent in enumerate(parents):
        if parent >= 0:
            depth[i] = depth[parent] + 1
    return depth


def test_shapes_types_and_sizes():
    X, Y, parents = make_multilabel_hierarchy(2000, 3000, n_labels=30, n_nonzero=20, random_state=0)
    assert isinstance(X, sparse.csr_array)
    assert isinstance(Y, sparse.csr_array)
    assert X.shape == (2000, 3000)
    assert Y.shape == (2000, 30)
    assert X.indices.dtype == np.int32
    assert Y.dtype == np.uint8
    assert set(np.unique(Y.data)) == {1}
    assert X.has_canonical_format
    assert 17 < X.nnz / 2000 <= 20
    assert np.diff(X.indptr).min() >= 1
    assert np.diff(Y.indptr).min() >= 1
    assert X.data.min() == 1  # 1 + log(1)
    assert set(np.round(np.exp(X.data - 1), 6)) >= {1.0, 2.0}  # counts
    assert len(parents) == 30


def test_tree():
    for seed in range(5):
        _, _, parents = make_multilabel_hierarchy(5, 50, n_labels=40, n_roots=3, max_depth=3, random_state=seed)
        assert (parents == -1).sum() == 3
        assert (parents < np.arange(40)).all()
        assert depths(parents).max() == 3


def test_labels_are_closed_under_ancestors():
    _, Y, parents = make_multilabel_hierarchy(500, 100, n_labels=25, random_state=0)
    dense = Y.toarray()
    for label, parent in enumerate(parents):
        if parent >= 0:
            assert (dense[:, label] <= dense[:, parent]).all()
    inner = np.unique(parents[parents >= 0])
    ends_inside = [label for label in inner if (dense[:, label] > dense[:, parents == label].max(axis=1)).any()]
    assert ends_inside  # some documents are about an inner node itself


def test_flat_and_tiny():
    _, Y, parents = make_multilabel_hierarchy(20, 5, n_labels=4, max_depth=1, random_state=0)
    assert (parents == -1).all()
    X, Y, parents = make_multilabel_hierarchy(3, 1, n_labels=1, n_nonzero=1, n_topics=1, random_state=0)
    assert X.toarray().tolist() == [[1.0]] * 3
    assert Y.toarray().tolist() == [[1]] * 3
    assert parents.tolist() == [-1]


def test_terms_tell_labels_unless_told_not_to():
    def auc(informative):
        X, Y, _ = make_multilabel_hierarchy(1500, 400, n_labels=10, informative=informative, random_state=0)
        y = Y.toarray()
        label = np.abs(y.mean(axis=0) - 0.4).argmin()
        model = LogisticRegression(C=0.1, max_iter=500).fit(X[:1000], y[:1000, label])
        return roc_auc_score(y[1000:, label], model.decision_function(X[1000:]))

    assert auc(0.6) > 0.9
    assert auc(0.0) == pytest.approx(0.5, abs=0.1)


def test_reproducible():
    a, b, c = (make_multilabel_hierarchy(300, 80, random_state=s) for s in (5, 5, 6))
    assert (a[0] != b[0]).nnz == 0
    assert (a[1] != b[1]).nnz == 0
    np.testing.assert_array_equal(a[2], b[2])
    assert (a[0] != c[0]).nnz > 0


def test_many_documents():  # more than are drawn at once
    n = 70_000
    X, _, _ = make_multilabel_hierarchy(n, 40, n_labels=5, n_nonzero=3, random_state=0)
    assert X.shape == (n, 40)
    assert (np.diff(X.indptr) > 0).all()
    assert np.diff(X.indptr)[-1000:].mean() == pytest.approx(np.diff(X.indptr)[:1000].mean(), rel=0.1)


def test_graphs_take_it():
    _, Y, parents = make_multilabel_hierarchy(50, 60, n_labels=12, random_state=0)
    assert len(PreferenceGraphs.from_hierarchy(Y, parents)) == 50
    assert PreferenceGraphs.from_multilabel(Y).shape == (50, 12)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("n_samples", 0),
        ("n_labels", 0),
        ("max_depth", 0),
        ("n_nonzero", 0.5),
        ("n_topics", "2"),
        ("informative", 2),
    ],
)
def test_bad_arguments_are_named(argument, value):
    with pytest.raises(ValueError, match=f"^The '{argument}' parameter of make_multilabel_hierarchy must be"):
        make_multilabel_hierarchy(**{argument: value})
