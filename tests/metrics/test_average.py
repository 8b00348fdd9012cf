"""Metrics for each instance: ``average=None``."""

import numpy as np
import pytest

from labelrank import metrics
from labelrank.datasets import make_label_ranking

X, Y = make_label_ranking(30, 3, n_labels=4, missing=0.4, random_state=0)
PREDICTED = np.argsort(np.random.default_rng(0).random((30, 4)), axis=1) + 1.0
RELEVANT = np.random.default_rng(1).random((30, 4)) < 0.4
RANKS = ["kendall_tau", "kendall_tau_b", "kendall_tau_x", "spearman_rho", "zero_one_error", "disagreement_error"]
RANKS += ["domination_error", "dominated_error", "generalized_error", "top_k_accuracy", "ndcg"]
SETS = ["covering_error", "one_error", "coverage", "average_precision"]
COSTS = ["mean_cost", "regret"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RANKS + SETS + COSTS)
def test_values_of_instances(name):
    metric = getattr(metrics, name)
    truth = Y if name in RANKS else RELEVANT if name in SETS else np.random.default_rng(2).random((30, 4))
    options = {"decomposition": "domination"} if name == "generalized_error" else {}
    if name == "covering_error":
        options = {"covering": "hamming"}
    values = metric(truth, PREDICTED, average=None, **options)
    assert values.shape == (30,)
    assert np.nanmean(values) == pytest.approx(metric(truth, PREDICTED, **options))
    for row in range(30):
        alone = metric(truth[[row]], PREDICTED[[row]], **options)
        assert values[row] == pytest.approx(alone, nan_ok=True)
    weight = np.arange(30.0)
    known = ~np.isnan(values)
    weighted = metric(truth, PREDICTED, sample_weight=weight, **options)
    assert weighted == pytest.approx(np.average(values[known], weights=weight[known]))
    with pytest.raises(ValueError, match='average must be "mean" or None'):
        metric(truth, PREDICTED, average="sum", **options)


@pytest.mark.filterwarnings("ignore:.*leaves out:UserWarning")
@pytest.mark.parametrize("unit", [5e-324, 1e-320, 1e300, 2.0**1023])
@pytest.mark.parametrize(
    "name", ["kendall_tau", "ndcg", "domination_error", "one_error", "mean_cost", "regret", "closed_gap"]
)
def test_only_the_ratios_of_weights_count(name, unit):
    metric = getattr(metrics, name)
    truth = Y if name in RANKS else RELEVANT if name in SETS else np.random.default_rng(2).random((30, 4))
    weight = np.zeros(30)
    weight[:10] = 1.0
    expected = metric(truth, PREDICTED, sample_weight=weight)
    assert metric(truth, PREDICTED, sample_weight=weight * unit) == pytest.approx(expected)


def test_booleans_are_no_predicted_ranks():
    with pytest.raises(TypeError, match=r"y_pred .* holds booleans.*pass ranks, or ranks_from_scores\(y_pred\)"):
        metrics.kendall_tau([[1, 2]], np.array([[True, False]]))
    assert metrics.one_error([[1, 0]], np.array([[True, False]])) == 0
