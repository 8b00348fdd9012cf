"""Plackett-Luce weights against SciPy on the likelihood written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import neighbors as oracle
from scipy.optimize import minimize
from strategies import rank_matrices

from labelrank import PreferenceGraphs
from labelrank.aggregation import plackett_luce, plackett_luce_scores


@given(rank_matrices(min_rows=1, min_labels=2, max_labels=4), st.integers(0, 100))
@settings(max_examples=30)
def test_weights_maximize_the_likelihood(ranks, seed):
    weight = np.random.default_rng(seed).integers(0, 3, len(ranks)).astype(float)
    found = plackett_luce_scores(ranks, weight)
    args = (ranks, weight, 0.1)
    best = minimize(oracle.plackett_luce_loss, np.zeros(ranks.shape[1]), args=args, options={"gtol": 1e-8})
    assert oracle.plackett_luce_loss(found, *args) <= best.fun + 1e-9 * abs(best.fun)


def test_edges_are_choices_between_two_labels():
    wins = PreferenceGraphs.from_pairs([0, 1, 2], [0, 1, 0], [1, 0, 2], [3.0, 1.0, 2.0], n_labels=3)
    rows = [[1, 2, np.nan], [2, 1, np.nan], [1, np.nan, 2]]
    np.testing.assert_allclose(plackett_luce_scores(wins), plackett_luce_scores(rows, [3, 1, 2]), atol=1e-7)


def test_consensus():
    np.testing.assert_array_equal(plackett_luce([[1, 2, 3], [1, 3, 2], [2, 1, 3]]), [1, 2, 3])
    np.testing.assert_array_equal(plackett_luce([[1, 2, 3], [2, 3, 1], [3, 1, 2]]), [1, 1, 1])
    assert plackett_luce_scores([[1, 2]] * 1000)[0] == pytest.approx(4.6, abs=0.1)  # finite by the prior
