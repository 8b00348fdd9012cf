"""Metrics of relevant sets against literal loops and scikit-learn."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import metrics as oracle
from scipy import sparse
from sklearn.metrics import coverage_error, hamming_loss, label_ranking_average_precision_score, zero_one_loss

from labelrank import PreferenceGraphs, metrics
from labelrank.decompositions import hamming, weighted_negative, weighted_positive, zero_one

COVERINGS = ["zero_one", "hamming", "two_sets", "weighted_positive", "weighted_negative"]


@st.composite
def sets_and_scores(draw):
    n, k = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    row = st.lists(st.booleans(), min_size=k, max_size=k)
    scores = st.lists(st.integers(-2, 2).map(float), min_size=k, max_size=k)
    Y = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=int)
    return Y, np.array(draw(st.lists(scores, min_size=n, max_size=n)))


@given(sets_and_scores(), st.sampled_from(COVERINGS))
def test_covering_error_equals_literal_loops(case, name):
    Y, S = case
    expected = oracle.covering_error(Y, S, name)
    for form in (Y, sparse.csr_array(Y), Y.astype(bool), PreferenceGraphs.from_multilabel(Y)):
        assert_allclose(metrics.covering_error(form, S, name), expected, atol=1e-12)
    assert_allclose(
        metrics.covering_error(Y, S, lambda relevant: oracle.cover_elements(relevant, name)),
        expected,
        atol=1e-12,
    )


@given(sets_and_scores())
def test_covering_error_equals_scikit_learn_where_it_has_it(case):
    Y, S = case
    pred = (S > 0).astype(int)
    assert_allclose(metrics.covering_error(Y, S, "hamming"), hamming_loss(Y, pred) * Y.shape[1], atol=1e-12)
    assert_allclose(metrics.covering_error(Y, S, "zero_one"), zero_one_loss(Y, pred), atol=1e-12)
    assert metrics.covering_error(Y, pred, "hamming") == metrics.covering_error(Y, S, "hamming")


@given(sets_and_scores())
def test_coverage_and_average_precision_equal_scikit_learn(case):
    Y, S = case
    assume(Y.shape[1] > 1)
    weight = np.arange(1, len(Y) + 1)
    assert_allclose(metrics.coverage(Y, S), coverage_error(Y, S), atol=1e-12)
    assert_allclose(metrics.coverage(Y, S, sample_weight=weight), coverage_error(Y, S, sample_weight=weight))
    expected = label_ranking_average_precision_score(Y, S)
    assert_allclose(metrics.average_precision(Y, S), expected, atol=1e-12)
    expected = label_ranking_average_precision_score(Y, S, sample_weight=weight)
    assert_allclose(metrics.average_precision(Y, S, sample_weight=weight), expected)


def test_one_error():
    Y = [[1, 0, 0], [0, 1, 1], [1, 1, 0]]
    S = [[3, 1, 2], [5, 1, 1], [2, 2, 1]]
    assert metrics.one_error(Y, S) == pytest.approx(1 / 3)
    # tied at the top with a label that is not relevant: an error
    assert metrics.one_error([[1, 0]], [[1, 1]]) == 1
    with pytest.warns(UserWarning, match="leaves out 1 of 2 instances without a relevant label"):
        assert metrics.one_error([[1, 0], [0, 0]], [[1, 0], [1, 0]]) == 0


def test_weights_and_objects():
    Y, S = [[1, 1, 0, 0]], [[1, -1, 1, 1]]
    assert metrics.covering_error(Y, S, weighted_positive(3)) == 3 + 2
    assert metrics.covering_error(Y, S, weighted_negative(2)) == 1 + 2
    assert metrics.covering_error(Y, S, weighted_positive) == 6 + 2
    assert metrics.covering_error(Y, S, hamming) == 3
    assert metrics.covering_error(Y, S, zero_one) == 1  # a decomposition of graphs, on the graph with the dummy
    with pytest.raises(ValueError, match="covering 'nope' is not known"):
        metrics.covering_error(Y, S, "nope")


def test_unknown_labels_stay_out_of_their_element():
    Y = np.array([[1.0, np.nan, 0.0]])
    assert metrics.covering_error(Y, [[1, 5, 1]], "hamming") == 1
    with pytest.raises(ValueError, match="Y_true contains NaN, first in row 0"):
        metrics.coverage(Y, [[1, 5, 1]])


def test_sets_of_names():
    graphs = PreferenceGraphs.from_multilabel([{"b"}, {"a", "c"}], labels=["a", "b", "c"])
    assert metrics.covering_error(graphs, [[-1, 1, -1], [1, 1, 1]], "hamming") == 0.5


@pytest.mark.parametrize("metric", [metrics.one_error, metrics.coverage, metrics.average_precision])
def test_bad_input(metric):
    with pytest.raises(ValueError, match="different shapes"):
        metric([[1, 0]], [[1, 2, 3]])
    with pytest.raises(ValueError, match=r"^Y_true must be a matrix of 0 and 1"):
        metric([[2, 0]], [[1, 2]])
    with pytest.raises(ValueError, match=r"^Y_true .* rows of equal length; .*\[set\(row\) for row in Y_true\]"):
        metric([[1, 0], [1]], [[1, 2], [1, 2]])
    with pytest.raises(TypeError, match=r"^Y_true must hold one set of labels per instance, and row 1 is None"):
        metric([{0}, None], [[1, 2], [1, 2]])
    with pytest.raises(ValueError, match=r"^Y_true must be a matrix of 0 and 1, and holds 2"):
        metric(sparse.csr_array([[2, 0]]), [[1, 2]])
    with pytest.raises(ValueError, match=r"^Y_score contains infinity, .*; use a large finite number") as caught:
        metric([[1, 0]], [[1, np.inf]])
    assert "NaN" not in str(caught.value)
    with pytest.raises(TypeError, match=r"^Y_score is a sparse matrix, .* pass Y_score.toarray\(\)"):
        metric([[1, 0]], sparse.csr_array([[1, 0]]))
    with pytest.raises(TypeError, match=r"^Y_score must be a matrix of scores, and holds 'a' .*; scores are numbers"):
        metric([[1, 0]], [["a", "b"]])
    with pytest.raises(TypeError, match=r"^Y_score must be a matrix of scores, got PreferenceGraphs"):
        metric([[1, 0]], PreferenceGraphs.from_multilabel([[1, 0]]))
    with pytest.raises(ValueError, match="Y_score contains NaN, first in row 0"):
        metric([[1, 0]], [[1, np.nan]])
    with pytest.raises(ValueError, match="a metric of sets needs labels that are relevant or not, and instance 0"):
        metric(PreferenceGraphs.from_rankings([[1, 2, 3]]), [[1, 2, 3]])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_labels_are_told_apart_by_name(frame):
    names = ["a", "b", "c"]
    Y, S = np.array([[1, 0, 0], [0, 0, 1]]), np.array([[3.0, 1.0, 2.0], [2.0, 1.0, 3.0]])
    of_scores, of_sets = dict(zip(names, S.T, strict=True)), dict(zip(names, Y.T, strict=True))
    assert metrics.one_error(frame(of_sets), frame(of_scores)) == 0
    assert metrics.one_error(Y, frame(of_scores)) == metrics.one_error(frame(of_sets), S) == 0
    turned = frame(of_scores)[["c", "b", "a"]]
    for truth in (frame(of_sets), PreferenceGraphs.from_multilabel(Y, labels=names)):
        assert metrics.one_error(truth, turned) == 0
        assert metrics.covering_error(truth, turned, "hamming") == metrics.covering_error(Y, S, "hamming")
        with pytest.raises(
            ValueError, match=r"Y_true and Y_score name different labels: only Y_true has \['b'\], only"
        ):
            metrics.one_error(truth, frame({"c": [1.0, 2.0], "x": [3.0, 4.0], "a": [5.0, 6.0]}))
    # sets of names find their columns
    for truth in ([{"a"}, {"c"}], [["a"], ["c"]], iter([{"a"}, {"c"}])):
        assert metrics.one_error(truth, turned) == 0
    with pytest.raises(ValueError, match=r"Y_true names the label 'x', which is not in labels=\['c', 'b', 'a'\]"):
        metrics.one_error([{"x"}, {"c"}], turned)


def test_sets_take_the_number_of_labels_from_the_scores():
    S = [[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]]
    assert metrics.one_error([{0}, {0}], S) == 0.5
    assert metrics.covering_error([{0}, set()], S, "hamming") == 2.5
    with pytest.raises(ValueError, match="Y_true holds 3 in entry 1, but n_labels=3"):
        metrics.one_error([{0}, {3}], S)
    with pytest.raises(
        ValueError, match=r"Y_true names 2 labels, and Y_score has 3 columns without names; pass Y_score"
    ):
        metrics.one_error([{"a"}, {"b"}], S)
    assert metrics.one_error([{"a"}, {"b", "c"}], S) == 0  # all of them occur: sorted


def test_many_rows():
    rng = np.random.default_rng(0)
    Y, S = rng.integers(0, 2, (450_000, 5)), rng.normal(size=(450_000, 5))  # more than one block
    expected = ((S > 0) != Y).sum(axis=1).mean()
    assert metrics.covering_error(Y, S, "hamming") == pytest.approx(expected, rel=1e-12)
