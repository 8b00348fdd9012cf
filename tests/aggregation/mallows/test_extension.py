"""The most probable extension against all extensions."""

import itertools
import math

import numpy as np
import pytest
from aggregation.mallows.strategies_of_mallows import NAN, centers, partials
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import mallows as oracle

from labelrank.aggregation.mallows import most_probable_extension

INF = math.inf


@given(st.data())
@settings(max_examples=60)
def test_extension_is_a_nearest_one_of_all(data):
    center = data.draw(centers())
    row = data.draw(partials(len(center)))
    completed = most_probable_extension(row, center)
    assert sorted(completed) == list(range(1, len(center) + 1))
    assert oracle.extends(completed, row)
    assert oracle.distance(completed, center) == oracle.smallest_distance_of_an_extension(row, center)
    np.testing.assert_array_equal(completed, oracle.most_probable_extension(row, center))


@given(st.data())
def test_extension_with_ties_keeps_them_together(data):
    center = data.draw(centers())
    row = data.draw(partials(len(center), ties=True))
    completed = most_probable_extension(row, center)
    np.testing.assert_array_equal(completed, oracle.most_probable_extension(row, center))
    observed = [a for a, r in enumerate(row) if not math.isnan(r)]
    for a, b in itertools.combinations(observed, 2):
        assert np.sign(completed[a] - completed[b]) == np.sign(row[a] - row[b])


@given(centers(), st.integers(0, 1000))
def test_nearest_of_the_extensions_that_keep_groups_together(center, seed):
    """All places for each missing label, groups kept whole: none is nearer."""
    rng = np.random.RandomState(seed)
    n = len(center)
    row = np.where(rng.rand(n) < 0.5, NAN, rng.randint(1, 3, size=n))
    groups = sorted(set(row[~np.isnan(row)]))
    blocks = [[a for a in range(n) if row[a] == g] for g in groups] + [[a] for a in range(n) if math.isnan(row[a])]
    best = INF
    for order in itertools.permutations(range(len(blocks))):
        if [b for b in order if b < len(groups)] == list(range(len(groups))):
            ranks = np.empty(n)
            for place, b in enumerate(order):
                ranks[blocks[b]] = place
            best = min(best, oracle.distance(ranks, center))
    assert oracle.distance(most_probable_extension(row, center), center) == best


def test_extension_of_the_edges():
    center = [2, 1, 3]
    np.testing.assert_array_equal(most_probable_extension([NAN] * 3, center), center)
    np.testing.assert_array_equal(most_probable_extension([30, 10, 20], center), [3, 1, 2])
    np.testing.assert_array_equal(most_probable_extension([[NAN], [4.0]], [7]), [[1.0], [1.0]])
    assert most_probable_extension(np.empty((0, 3)), center).shape == (0, 3)
    # Between the reversed labels 2 and 0 label 1 has three equally good places and takes the first.
    np.testing.assert_array_equal(most_probable_extension([2, NAN, 1], [1, 2, 3]), [3, 1, 2])


@pytest.mark.parametrize(
    ("partial", "center", "message"),
    [
        ([1, 2], [1, 2, 3], "partial has 2 labels and center has 3"),
        ([1, 2], [1, 1], "center must have no ties"),
        ([1, 2], [1, NAN], "center must rank every label"),
        ([1, 2], [[1, 2]], "center must be one ranking"),
        ([1, INF], [1, 2], "partial"),
    ],
)
def test_bad_extensions_are_refused(partial, center, message):
    with pytest.raises(ValueError, match=message):
        most_probable_extension(partial, center)
