"""Disagreement within groups against the literal equation."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import metrics as oracle
from sklearn.exceptions import UndefinedMetricWarning

from labelrank.metrics import group_disagreement, groups


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


def test_large_groups_by_sorting_equal_small_groups_by_pairs(monkeypatch):
    rng = np.random.default_rng(0)
    y, f = rng.integers(0, 20, 600), rng.integers(0, 15, 600)
    by_pairs = group_disagreement(y, f, None)
    monkeypatch.setattr(groups, "_LARGE", 10)
    assert_allclose(group_disagreement(y, f, None), by_pairs, rtol=1e-12)
    half_of_the_untied = np.mean(y[:, None] != y[None, :]) * 600 / 599 / 2
    assert_allclose(group_disagreement(y, np.ones(600), None), half_of_the_untied, rtol=1e-12)


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
