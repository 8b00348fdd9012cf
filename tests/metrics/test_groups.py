"""Disagreement within groups against the literal equation."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import metrics as oracle
from sklearn.exceptions import UndefinedMetricWarning

from labelrank.metrics import group_disagreement


@given(
    st.lists(
        st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.sampled_from(["x", "y", "z"])),
        min_size=2,
        max_size=15,
    )
)
def test_equals_the_literal_equation(items):
    y, f, names = (np.array(column) for column in zip(*items, strict=True))
    assume(max(np.unique(names, return_counts=True)[1]) > 1)
    expected = oracle.group_disagreement(y, f, names.tolist())
    assert_allclose(group_disagreement(y, f, names), expected, atol=1e-12)
    ids = [(name, 1) for name in names]  # any hashable will do
    order = np.random.default_rng(0).permutation(len(y))
    assert_allclose(group_disagreement(y[order], f[order], [ids[i] for i in order]), expected, atol=1e-12)


def test_large_groups_by_sorting_equal_pairs():
    """Without weights, groups of more than 4096 items are sorted; with weights, pairs are counted."""
    rng, n = np.random.default_rng(0), 5000
    y, f = rng.integers(0, 20, n), rng.integers(0, 15, n)
    assert_allclose(group_disagreement(y, f, None), group_disagreement(y, f, None, np.ones(n)), rtol=1e-12)
    half_of_the_untied = np.mean(y[:, None] != y[None, :]) * n / (n - 1) / 2
    assert_allclose(group_disagreement(y, np.ones(n), None), half_of_the_untied, rtol=1e-12)


def test_weights_of_items():
    y, f, names = np.array([3, 2, 1, 1, 2, 5]), np.array([1, 3, 2, 1, 1, 0]), np.array(list("aaabbb"))
    copies = np.array([2, 1, 3, 1, 0, 2])
    pairs = {"a": [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 0.0)], "b": [(3, 5, 1.0)]}
    expected = [
        np.average([wrong for *_, wrong in listed], weights=[copies[i] * copies[j] for i, j, _ in listed])
        for listed in pairs.values()
    ]
    assert_allclose(group_disagreement(y, f, names, copies), np.mean(expected))
    assert_allclose(group_disagreement(y, f, names, 1e-200 * copies), np.mean(expected))
    with pytest.raises(ValueError, match="sample_weight"):
        group_disagreement(y, f, names, [1.0, 2.0])


def test_extremes_and_single_items():
    assert group_disagreement([1, 2, 3], [1, 2, 3], None) == 0
    assert group_disagreement([1, 2, 3], [3, 2, 1], groups=None) == 1
    assert group_disagreement([1, 2, 3, 9], [1, 2, 3, 0], [0, 0, 0, 1]) == 0  # a group of one item has no say
    with pytest.warns(UndefinedMetricWarning, match="no group has two items"):
        assert np.isnan(group_disagreement([1, 2], [1, 2], ["a", "b"]))


def test_bad_input():
    with pytest.raises(ValueError, match="y_true must hold one score per item"):
        group_disagreement([[1, 2]], [1, 2], None)
    with pytest.raises(ValueError, match="each of the 2 items, got 1 entries"):
        group_disagreement([1, 2], [1, 2], ["a"])
    with pytest.raises(ValueError, match="NaN"):
        group_disagreement([1, np.nan], [1, 2], None)
    with pytest.raises(TypeError, match="groups"):
        group_disagreement([1, 2], [1, 2])  # all in one group must be said


def test_groups_of_any_name():
    y, f = [2, 1, 2, 1], [1, 2, 2, 1]
    expected = group_disagreement(y, f, [0, 0, 1, 1])
    for names in (["1", "1", 1, 1], [1, 1, "a", "a"], [(0, 1), (0, 1), "b", "b"], np.array(["x", "x", "y", "y"])):
        assert group_disagreement(y, f, names) == expected
    with pytest.raises(ValueError, match="groups has a missing entry"):
        group_disagreement(y, f, ["a", "a", None, "b"])
    with pytest.raises(ValueError, match="each of the 4 items, got 3 entries"):
        group_disagreement(y, f, ["a", "a", "b"])
