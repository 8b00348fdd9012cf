"""Costs of the label that is ranked first."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

from labelrank import DummyRanker, KNeighborsRanker, PreferenceGraphs, ranks_from_scores
from labelrank.metrics import closed_gap, get_scorer, mean_cost, regret

NAN = float("nan")
RUNS = np.array([[2.0, 30.0, 60.0], [NAN, 5.0, 8.0], [7.0, 61.0, 3.0], [NAN, NAN, NAN]])
PRED = np.array([[1, 2, 3], [1, 2, 3], [2, 2, 1], [1, 1, 1]])


def test_par10_by_hand():
    # 2, unsolved, 3, unsolved
    assert mean_cost(RUNS, PRED, cutoff=60) == (2 + 600 + 3 + 600) / 4
    assert mean_cost(RUNS, PRED, cutoff=60, penalty=1) == (2 + 60 + 3 + 60) / 4
    assert regret(RUNS, PRED, cutoff=60) == (0 + 595 + 0 + 0) / 4
    single = (2 + 600 + 7 + 600) / 4  # the first solver: the others have 308.75 and 302.75
    assert closed_gap(RUNS, PRED, cutoff=60) == pytest.approx((single - 301.25) / (single - (2 + 5 + 3 + 600) / 4))
    given = closed_gap(RUNS, PRED, cutoff=60, single_best=1)
    assert given == pytest.approx((308.75 - 301.25) / (308.75 - 152.5))
    assert closed_gap(RUNS, np.nan_to_num(RUNS, nan=100), cutoff=60) == 1


def test_costs_below_zero_are_gains():
    assert mean_cost([[-1.0, 3.0]], [[1, 2]]) == -1
    assert regret([[-1.0, 3.0]], [[2, 1]]) == 4


def test_ties_for_the_first_place_share():
    assert mean_cost([[1.0, 3.0, 9.0]], [[1, 1, 3]]) == 2
    assert regret([[1.0, 3.0, 9.0]], [[1, 1, 3]]) == 1


@pytest.mark.parametrize("metric", [mean_cost, regret, closed_gap])
def test_weights_are_repeats(metric):
    rng = np.random.default_rng(0)
    costs, pred, weight = rng.random((6, 3)), ranks_from_scores(rng.random((6, 3))), rng.integers(0, 4, 6)
    repeated = np.repeat(np.arange(6), weight)
    assert metric(costs, pred, sample_weight=weight) == pytest.approx(metric(costs[repeated], pred[repeated]))
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(metric(costs, pred, sample_weight=np.zeros(6)))


@pytest.mark.parametrize("metric", [mean_cost, regret, closed_gap])
def test_names(metric):
    costs = pd.DataFrame(np.nan_to_num(RUNS, nan=600), columns=["x", "y", "z"])
    pred = pd.DataFrame(PRED, columns=["x", "y", "z"])
    assert metric(costs, pred[["z", "x", "y"]]) == metric(costs.to_numpy(), PRED)
    with pytest.raises(
        ValueError, match=r"costs and y_pred name different labels: only costs has \['x'\], only y_pred has"
    ):
        metric(costs, pred.rename(columns={"x": "w"}))


def test_the_single_best_by_name():
    costs = pd.DataFrame(RUNS, columns=["x", "y", "z"])
    assert closed_gap(costs, PRED, cutoff=60, single_best="y") == closed_gap(RUNS, PRED, cutoff=60, single_best=1)
    with pytest.raises(ValueError, match="single_best names the label 'w', which is not in"):
        closed_gap(costs, PRED, cutoff=60, single_best="w")
    with pytest.raises(ValueError, match="single_best is 'y', but costs has no names of labels; pass the number"):
        closed_gap(RUNS, PRED, cutoff=60, single_best="y")
    with pytest.warns(UndefinedMetricWarning, match="the single best label is the best of every instance"):
        assert np.isnan(closed_gap([[1.0, 2.0], [0.1, 0.3], [0.2, 0.7]], [[2, 1]] * 3))


@pytest.mark.parametrize(
    ("costs", "options", "error", "message"),
    [
        (RUNS, {}, ValueError, "costs contains NaN, first at row 1, column 0; pass the cutoff"),
        ([[1.0, np.inf]], {}, ValueError, "costs contains infinity.*pass NaN, and the cutoff"),
        ([[1.0]], {}, ValueError, r"costs and y_pred have different shapes: \(1, 1\) and \(4, 3\)"),
        (np.empty((4, 0)), {}, ValueError, r"costs has no labels \(shape=\(4, 0\)\)"),
        (
            np.nan_to_num(RUNS, nan=-1),
            {"cutoff": 60},
            ValueError,
            "costs contains -1 at row 1, column 0.*replace them by NaN",
        ),
        (RUNS, {"cutoff": -1}, ValueError, "cutoff must be a number above 0, got -1; pass cutoff=None"),
        (RUNS, {"cutoff": np.nan}, ValueError, "cutoff must be a number above 0, got nan"),
        (RUNS, {"cutoff": "60"}, ValueError, "cutoff must be a number above 0, got '60'"),
        (RUNS, {"cutoff": 60, "penalty": 0.5}, ValueError, "penalty must be a number of at least 1, got 0.5"),
        (
            PreferenceGraphs.from_rankings(PRED),
            {},
            TypeError,
            "costs must be a matrix of numbers, got PreferenceGraphs",
        ),
    ],
)
def test_bad_costs(costs, options, error, message):
    with pytest.raises(error, match=message):
        mean_cost(costs, PRED, **options)


def test_costs_are_y_and_scored_in_cross_validation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    costs = pd.DataFrame(np.exp(X @ rng.normal(size=(2, 3))), columns=["x", "y", "z"])
    costs[costs > 3] = 3.0  # timeouts at the cutoff: ranked last, tied
    found = cross_val_score(KNeighborsRanker(5), X, costs, scoring=get_scorer("mean_cost", cutoff=3), cv=3)
    assert found.shape == (3,)
    assert (found < 0).all()
    gap = cross_val_score(KNeighborsRanker(5), X, costs, scoring=get_scorer("closed_gap", cutoff=3), cv=3)
    assert (gap > 0).all()
    search = GridSearchCV(KNeighborsRanker(), {"n_neighbors": [1, 5]}, scoring=get_scorer("neg_regret", cutoff=3)).fit(
        X, costs
    )
    assert search.score(X, costs[["z", "y", "x"]]) == search.score(X, costs)
    single = DummyRanker().fit(X, costs)
    assert get_scorer("closed_gap", cutoff=3)(single, X, costs) <= 0


@pytest.mark.parametrize("metric", [mean_cost, regret, closed_gap])
def test_a_cutoff_of_zero_is_refused(metric):
    with pytest.raises(ValueError, match="pass cutoff=None if runs were not cut off"):
        metric([[1.0, 5.0], [7.0, 2.0]], [[1, 2], [1, 2]], cutoff=0)
