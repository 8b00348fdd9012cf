"""Metrics of the top of a ranking against scikit-learn."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from metrics.cases import tied_incomplete
from numpy.testing import assert_allclose
from oracles import metrics as oracle
from sklearn.metrics import ndcg_score

from labelrank import metrics


@given(tied_incomplete(), st.sampled_from([None, 1, 2, 4]))
def test_ndcg_equals_scikit_learn(case, k):
    true, pred = case
    values = []
    for t, p in zip(true, pred, strict=True):
        seen = ~np.isnan(t)
        if len(np.unique(t[seen])) > 1:
            gain = [(t[seen] > v).sum() for v in t[seen]]
            values.append(ndcg_score([gain], [-p[seen]], k=k))
    assume(values)
    assert_allclose(metrics.ndcg(true, pred, k=k), np.mean(values), atol=1e-12)


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_k_must_be_a_positive_integer(k):
    with pytest.raises(ValueError, match="k must be a positive integer"):
        metrics.top_k_accuracy([[1, 2]], [[1, 2]], k=k)


@given(tied_incomplete(), st.integers(1, 3))
def test_top_k_accuracy_equals_literal_loops(case, k):
    true, pred = case
    assume(any(oracle.edges_of_ranks(row) for row in true))
    assert_allclose(metrics.top_k_accuracy(true, pred, k=k), oracle.top_k_accuracy(true, pred, k), atol=1e-12)
