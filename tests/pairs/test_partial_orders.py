"""Partial orders of pair probabilities and of score gaps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracles.trust import is_strict_partial_order, pairs_by_row

from labelrank.pairs import (
    asserted_pairs,
    buckets_of_scores,
    graphs_of_relation,
    share_of_pairs,
    transitive_core,
)


def probabilities(draw_or_rng, n, k):
    p = draw_or_rng.random((n, k, k))
    p = np.triu(p, 1)
    p = p + np.tril(1 - p.transpose(0, 2, 1), -1)
    p[:, range(k), range(k)] = 0.5
    return p


@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0.5, 0.6, 0.8, 0.99, 1.0]))
def test_asserted_pairs_are_strict_partial_orders_inside_the_ranking(seed, k, threshold):
    rng = np.random.default_rng(seed)
    proba, ranks = probabilities(rng, 3, k), rng.integers(1, k + 1, (3, k)).astype(float)
    relation = asserted_pairs(proba, ranks, threshold)
    for row in range(3):
        pairs = {(a, b) for a, b in np.argwhere(relation[row])}
        assert is_strict_partial_order(pairs)
        assert all(proba[row, a, b] > threshold and ranks[row, a] < ranks[row, b] for a, b in pairs)


@given(arrays(float, (4, 5), elements=st.floats(-2, 2)), st.floats(0, 1))
def test_a_strict_partial_order_stays_as_it_is(scores, gap):
    relation = scores[:, :, None] - scores[:, None, :] > gap
    assert (transitive_core(relation) == relation).all()


@given(arrays(float, (4, 5), elements=st.floats(-2, 2).map(lambda v: round(v, 2))), st.floats(0, 1))
def test_buckets_are_the_cuts_with_all_pairs_asserted(scores, gap):
    found = buckets_of_scores(scores, np.full(4, gap))
    for row in range(4):
        order = np.argsort(-scores[row], kind="stable")
        asserted = scores[row][order, None] - scores[row][order] > gap
        cuts = [m for m in range(1, 5) if asserted[:m, m:].all()]
        assert found[row][order].tolist() == [1 + max([0, *(m for m in cuts if m <= i)]) for i in range(5)]


def test_share_of_pairs():
    proba = np.full((1, 3, 3), 0.5)
    proba[0, 0, 1:], proba[0, 1:, 0] = [0.9, 0.8], [0.1, 0.2]
    assert share_of_pairs(proba, np.array([[1.0, 2.0, 3.0]])) == pytest.approx([(0.9 + 0.8 + 0.5) / 3])
    assert share_of_pairs(proba, np.array([[1.0, 1.0, 3.0]])) == pytest.approx([(0.5 + 0.8 + 0.5) / 3])
    assert share_of_pairs(np.full((2, 1, 1), 0.5), np.ones((2, 1))).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("labels", [None, np.array(["x", "y", "z"], dtype=object), np.array([7, 5, 6], dtype=object)])
def test_graphs_of_relation_keep_names_and_empty_rows(labels):
    relation = np.zeros((3, 3, 3), dtype=bool)
    relation[0, 2, [0, 1]] = True
    graphs = graphs_of_relation(relation, labels)
    assert graphs.shape == (3, 3)
    assert pairs_by_row(graphs) == [{(2, 0), (2, 1)}, set(), set()]
    assert graphs.labels.tolist() == ([0, 1, 2] if labels is None else labels.tolist())
