"""What all metrics of rankings have in common."""

import numpy as np
import pytest
from metrics.cases import NAN
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from labelrank import PreferenceGraphs, metrics, ranks_from_scores

METRICS = [
    metrics.kendall_tau,
    metrics.kendall_tau_b,
    metrics.kendall_tau_x,
    metrics.spearman_rho,
    metrics.top_k_accuracy,
    metrics.ndcg,
    metrics.disagreement_error,
]


def test_tied_predictions_disagree_and_count_zero_in_tau():
    true, flat = [[1, 2, 3]], [[1, 1, 1]]
    assert metrics.kendall_tau(true, flat) == 0
    assert metrics.disagreement_error(true, flat) == 1
    assert metrics.kendall_tau_b(true, flat) == 0
    assert metrics.spearman_rho(true, flat) == 0
    assert metrics.top_k_accuracy(true, flat, k=2) == 0
    assert metrics.top_k_accuracy(true, flat, k=3) == 1


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.filterwarnings("ignore:.*leaves out")
def test_nothing_to_compare_is_nan_with_a_warning(metric):
    with pytest.warns(UndefinedMetricWarning, match="is undefined"):
        assert np.isnan(metric([[1.0, NAN], [NAN, NAN]], [[1, 2], [1, 2]]))
    with pytest.warns(UndefinedMetricWarning, match="is undefined"):
        assert np.isnan(metric([[1.0], [1.0]], [[1], [1]]))


@pytest.mark.parametrize("metric", [metrics.kendall_tau, metrics.spearman_rho, metrics.ndcg, metrics.domination_error])
def test_sample_weight(metric):
    rng = np.random.default_rng(1)
    true, pred = ranks_from_scores(rng.random((9, 5))), ranks_from_scores(rng.random((9, 5)))
    weight = rng.integers(0, 3, 9)
    repeated = np.repeat(np.arange(9), weight)
    expected = metric(true[repeated], pred[repeated])
    assert_allclose(metric(true, pred, sample_weight=weight), expected)
    with pytest.raises(ValueError, match="sample_weight"):
        metric(true, pred, sample_weight=weight[:3])
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        metric(true, pred, sample_weight=-weight)


@pytest.mark.parametrize("metric", [metrics.kendall_tau, metrics.disagreement_error, metrics.ndcg])
def test_bad_input_is_refused(metric):
    with pytest.raises(ValueError, match="different shapes"):
        metric([[1, 2]], [[1, 2, 3]])
    with pytest.raises(ValueError, match="y_pred contains NaN, first in row 1"):
        metric([[1, 2], [1, 2]], [[1, 2], [NAN, 2]])
    with pytest.raises(ValueError, match="y_pred contains infinity"):
        metric([[1, 2]], [[1, np.inf]])
    with pytest.raises(ValueError, match="y_true contains infinity"):
        metric([[1, np.inf]], [[1, 2]])
    with pytest.raises(TypeError, match="masked"):
        metric(np.ma.masked_array([[1.0, 2.0]], [[True, False]]), [[1, 2]])
    with pytest.raises(TypeError, match="ranks every label"):
        metric([[1, 2]], PreferenceGraphs.from_rankings([[1, 2]]))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_aligned_by_name(metric, library):
    DataFrame = pytest.importorskip(library).DataFrame
    rng = np.random.default_rng(0)
    true, pred = (rng.permuted(np.tile(np.arange(1.0, 5), (6, 1)), axis=1) for _ in range(2))
    expected, order = metric(true, pred), [2, 0, 3, 1]
    named = DataFrame(dict(zip("abcd", true.T, strict=True)))
    turned = DataFrame({"abcd"[i]: pred[:, i] for i in order})
    assert metric(named, turned) == pytest.approx(expected)
    assert metric(turned, named) == pytest.approx(metric(pred, true))
    assert metric(PreferenceGraphs.from_rankings(named), turned) == pytest.approx(expected)
    assert metric(named, pred) == metric(true, DataFrame(dict(zip("abcd", pred.T, strict=True)))) == expected
    other = turned.rename({"a": "x"}) if library == "polars" else turned.rename(columns={"a": "x"})
    with pytest.raises(
        ValueError, match=r"y_true and y_pred name different labels: only y_true has \['a'\], only y_pr"
    ):
        metric(named, other)


def test_rank_metrics_refuse_graphs_that_are_no_rankings():
    cycle = PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0])
    with pytest.raises(ValueError, match="not layered"):
        metrics.spearman_rho(cycle, [[1, 2, 3]])
    assert metrics.disagreement_error(cycle, [[1, 2, 3]]) == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="needs layered graphs"):
        metrics.generalized_error(cycle, [[1, 2, 3]], "levels")


@pytest.mark.parametrize(
    ("y_pred", "error", "message"),
    [
        ([[1, np.inf]], ValueError, "y_pred contains infinity, .* a prediction ranks every label: replace an inf"),
        (sparse.csr_array([[1, 2]]), TypeError, "y_pred is a sparse matrix, .* a prediction ranks every label"),
        ([["a", "b"]], TypeError, "y_pred must be a matrix of ranks, and holds 'a'.* the rank of each label"),
        ([[1, np.nan]], ValueError, "y_pred contains NaN, first in row 0; a prediction ranks every label"),
    ],
)
def test_advice_about_predictions(y_pred, error, message):
    for metric in (metrics.kendall_tau, metrics.ndcg, metrics.domination_error):
        with pytest.raises(error, match=message) as caught:
            metric([[1, 2]], y_pred)
        assert "not observed" not in str(caught.value)
