"""AutoRanker: any table and any supervision go in, a model with a leaderboard comes out."""

import signal
import time
from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pytest
from callbacks import Steps
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import labelrank
from labelrank import (
    AutoRanker,
    ConformalRanker,
    DecisionTreeRanker,
    DummyRanker,
    ExtraTreesRanker,
    GradientBoostingRanker,
    KNeighborsRanker,
    LogLinearRanker,
    PreferenceGraphs,
    mask_rankings,
    ranks_from_scores,
)
from labelrank.auto import CostRegressionRanker, CostWeightedRanker
from labelrank.auto.candidates import prepared_candidates
from labelrank.metrics import get_scorer, kendall_tau, mean_cost
from labelrank.supervision.names import labels_of
from labelrank.testing import ranker_checks

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
UTILITY = np.column_stack([X[:, 0], X[:, 1] ** 2, np.sin(2 * X[:, 2])]) + 0.1 * RNG.normal(size=(90, 3))
Y = ranks_from_scores(UTILITY)
FAST = {
    "linear": LogLinearRanker(),
    "neighbors": KNeighborsRanker(5),
    "boosting": GradientBoostingRanker(max_iter=10),
    "trees": ExtraTreesRanker(10),
}


def auto(**params):
    return AutoRanker(**({"candidates": FAST, "random_state": 0, "time_budget": None, "cv": 3} | params))


@pytest.mark.parametrize("check", ranker_checks(), ids=lambda check: check.__name__)
def test_contract(check):
    check(auto(candidates=[LogLinearRanker(), KNeighborsRanker(3)]))


def test_default_candidates_learn_and_are_listed():
    model = AutoRanker(random_state=0, cv=2, n_jobs=2).fit(pd.DataFrame(X[:60]).add_prefix("x"), Y[:60])
    table = model.leaderboard_
    assert isinstance(table, pd.DataFrame)
    assert set(table["name"]) >= {"linear", "quadratic", "kernel ridge", "neighbors", "boosted trees", "extra trees"}
    assert (table["folds"] == 2).all()
    assert table["mean"].is_monotonic_decreasing
    assert table["weight"].sum() == pytest.approx(1)
    assert model.score(pd.DataFrame(X[60:]).add_prefix("x"), Y[60:]) > 0.4


class SlowAtFirst(LogLinearRanker):
    """The first fit of all takes a second, as if there were kernels to compile."""

    started = False

    def fit(self, X, y, sample_weight=None):
        if not SlowAtFirst.started:
            time.sleep(1.0)
        SlowAtFirst.started = True
        return super().fit(X, y, sample_weight)


def test_compilation_is_not_the_cost_of_a_model():
    model = auto(cv=2, candidates={"slow": SlowAtFirst()}).fit(X, Y)
    assert SlowAtFirst.started
    assert model.leaderboard_["time"][0] < 0.5


def test_means_are_those_of_folds_without_their_rows():
    folds = list(KFold(3).split(X))
    model = auto(cv=folds, candidates={"linear": LogLinearRanker()}).fit(X, Y)
    pipeline = make_pipeline(StandardScaler(), LogLinearRanker())
    expected = [pipeline.fit(X[train], Y[train]).score(X[test], Y[test]) for train, test in folds]
    assert model.leaderboard_["mean"][0] == pytest.approx(np.mean(expected))
    np.testing.assert_allclose(model.fold_scores_, expected)
    assert model.best_score_ == pytest.approx(np.mean(expected))
    np.testing.assert_allclose(model.best_estimator_.predict(X), pipeline.fit(X, Y).predict(X))
    np.testing.assert_array_equal(model.predict(X), pipeline.predict(X))


def test_equal_seeds_give_equal_models_with_any_number_of_threads():
    found = [auto(n_jobs=n_jobs).fit(X, Y) for n_jobs in (1, 2)]
    assert found[0].weights_ == found[1].weights_
    np.testing.assert_array_equal(found[0].decision_function(X), found[1].decision_function(X))


def test_without_an_ensemble_the_best_candidate_is_taken():
    model = auto(ensemble=False).fit(X, Y)
    assert model.method_ == "single"
    assert model.weights_ == {model.leaderboard_["name"][0]: 1.0}
    np.testing.assert_array_equal(model.predict(X), model.best_estimator_.predict(X))


def test_probabilities_are_calibrated_on_rows_left_out():
    model = auto().fit(X, Y)
    proba, scores = model.pairwise_proba(X), model.decision_function(X)
    np.testing.assert_allclose(proba + np.swapaxes(proba, 1, 2), 1)
    odds = np.log(proba[:, 0, 1] / proba[:, 1, 0])
    np.testing.assert_allclose(odds, model.slope_ * (scores[:, 0] - scores[:, 1]))
    useless = auto().fit(X, ranks_from_scores(np.random.default_rng(1).normal(size=Y.shape)))
    assert useless.confidence(X).mean() < 0.65 < model.confidence(X).mean()


def test_an_ensemble_is_the_weighted_sum_of_standardized_scores():
    noisy = ranks_from_scores(UTILITY + np.random.default_rng(5).normal(size=Y.shape))
    model = auto(candidates=[LogLinearRanker(), KNeighborsRanker(5), ExtraTreesRanker(20)]).fit(X, noisy)
    assert len(model.weights_) > 1
    ensemble, total = model.best_estimator_, 0
    for ranker, weight in zip(ensemble.rankers_, model.weights_.values(), strict=True):
        scores = ranker.decision_function(X)
        total += weight * (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, keepdims=True)
    np.testing.assert_allclose(model.decision_function(X), total)
    assert "permutations" in str(labelrank.explain(model, X[:1], 0, 1, background=X[:20])).lower()


@pytest.mark.parametrize("n", [1, 2, 4, 12])
def test_few_rows(n):
    assert auto(cv=5).fit(X[:n], Y[:n]).predict(X).shape == Y.shape


@pytest.mark.parametrize("k", [1, 2])
def test_few_labels(k):
    y = Y[:, :k] if k == 1 else ranks_from_scores(UTILITY[:, :2])
    assert auto().fit(X, y).predict(X).shape == (90, k)


def test_kinds_of_supervision():
    edges = PreferenceGraphs.from_rankings(Y).to_edges()
    pairs = [*edges.instance, *range(90)], [*edges.better, *[2] * 90], [*edges.worse, *[0] * 90]
    battles = PreferenceGraphs.from_pairs(*pairs, n_instances=90, n_labels=3, conflicts="keep")  # with cycles
    for y in (mask_rankings(Y, 0.6, random_state=0), battles, PreferenceGraphs.from_multilabel(Y == 1)):
        assert auto(on_empty="ignore").fit(X, y).score(X, Y) > 0.2


def test_heavy_missingness_categories_and_text():
    rng = np.random.default_rng(2)
    kind = np.array(["red", "green", "blue"])[Y.argmin(axis=1)]
    table = pd.DataFrame(X).add_prefix("x").mask(rng.random(X.shape) < 0.7)
    table["kind"] = pd.Series(kind).mask(rng.random(90) < 0.3)
    table["note"] = [f"{rng.choice(['please', 'hello', 'thanks'])} number {i} is {c}" for i, c in enumerate(kind)]
    in_polars = pl.DataFrame({name: [None if pd.isna(v) else v for v in table[name]] for name in table})
    for raw in (table, in_polars):
        model = auto().fit(raw[:60], Y[:60])
        assert kendall_tau(Y[60:], model.predict(raw[60:])) > 0.2
        assert type(model.leaderboard_).__module__.split(".")[0] == type(raw).__module__.split(".")[0]


def test_sparse_features():
    thin = sparse.csr_matrix(np.where(np.abs(X) > 0.5, X, 0))
    assert auto().fit(thin[:60], Y[:60]).score(thin[60:], Y[60:]) > 0.1
    quadratic = prepared_candidates(None, thin, None, 0)["quadratic"].fit(thin[:60], Y[:60])
    assert quadratic.score(thin[60:], Y[60:]) > 0.1


def test_names_weights_and_conformal_rankings():
    y = pd.DataFrame(Y, columns=["tea", "milk", "cola"])
    weight = np.r_[np.zeros(30), np.ones(60)]
    model = auto().fit(X, y, weight)
    assert list(model.labels_) == ["tea", "milk", "cola"]
    assert model.score(X, y[["cola", "tea", "milk"]]) == model.score(X, y)
    safe = ConformalRanker(auto(candidates=[LogLinearRanker()]), cv=2, random_state=0).fit(X, Y)
    assert safe.predict(X).shape == Y.shape


def test_candidates_that_fail_are_reported_and_left_out():
    class Broken(DummyRanker):
        def fit(self, X, y, sample_weight=None):
            raise RuntimeError("no luck")

    model = auto(candidates={"broken": Broken(), "linear": LogLinearRanker()}).fit(X, Y)
    assert model.leaderboard_["status"].to_list() == ["complete", "RuntimeError: no luck"]
    with pytest.raises(ValueError, match="no candidate could be fitted; broken: RuntimeError: no luck"):
        auto(candidates={"broken": Broken()}).fit(X, Y)


def test_pipelines_are_taken_as_they_are():
    class Count(StandardScaler):
        pass

    model = auto(candidates=[make_pipeline(Count(), LogLinearRanker()), LogLinearRanker(), LogLinearRanker(alpha=9)])
    model.fit(X, Y)
    assert set(model.leaderboard_["name"]) == {"LogLinearRanker", "LogLinearRanker 2", "LogLinearRanker 3"}


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"candidates": []}, ValueError, "candidates is empty"),
        ({"candidates": [LogLinearRanker]}, TypeError, "candidates must be rankers"),
        ({"candidates": [Ridge()]}, TypeError, "candidates must be rankers, .*got Ridge"),
        ({"scoring": "tau"}, ValueError, "scorer 'tau' is not known"),
        ({"time_budget": 0}, ValueError, "time_budget"),
        ({"text_columns": ["note"]}, ValueError, "text_columns has 'note'"),
    ],
)
def test_errors_name_the_argument(params, error, message):
    with pytest.raises(error, match=message):
        auto(**params).fit(X, Y)


def test_a_spent_budget_leaves_a_model_of_what_was_fitted():
    model = auto(time_budget=1e-9).fit(X, Y)
    table = model.leaderboard_
    assert table["name"][0] == "linear"
    assert table["folds"].to_list() == [1, 0, 0, 0]
    assert table["status"].to_list() == ["no time for more folds"] + 3 * ["no time"]
    assert model.predict(X).shape == Y.shape


def test_many_rows_are_first_compared_on_some():
    rng = np.random.default_rng(3)
    big = rng.normal(size=(7000, 2))
    y = ranks_from_scores(np.column_stack([big[:, 0], big[:, 1], big.sum(axis=1)]))
    candidates = {"linear": LogLinearRanker(), "borda": DummyRanker(), "copeland": DummyRanker("copeland")}
    candidates |= {"kemeny": DummyRanker("kemeny"), "random": DummyRanker("random")}
    table = auto(candidates=candidates, time_budget=1000).fit(big, y).leaderboard_
    assert table["name"][0] == "linear"
    assert table["folds"].to_list() == [3, 3, 3, 0, 0]
    assert set(table["status"][3:]) == {"not among the better half on 1000 rows"}


def test_callbacks_see_each_fit_and_may_stop():
    steps = Steps()
    auto().set_callbacks(steps).fit(X, Y)
    assert steps.names == ["model"] * 12
    stopped = auto().set_callbacks(Steps(stop_after=5)).fit(X, Y)
    assert sum(stopped.leaderboard_["folds"]) == 5
    with pytest.warns(UserWarning, match="AutoRanker was interrupted after 5 fits"):
        interrupted = auto().set_callbacks(Steps(interrupt_after=5)).fit(X, Y)
    assert interrupted.predict(X).shape == Y.shape


class Interrupted(KNeighborsRanker):
    """Control-C in a fit to many rows, which is caught, as by a forest that keeps the trees it has."""

    many = 0

    def fit(self, X, y, sample_weight=None):
        if len(y) > self.many:
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(("many", "folds"), [(40, [1, 0]), (70, [3, 3])])  # in a fold, in the fit to all rows
def test_control_c_that_a_candidate_catches_ends_the_fit(many, folds, monkeypatch):
    monkeypatch.setattr(Interrupted, "many", many)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.warns(UserWarning, match="AutoRanker was interrupted after"):
            model = auto(candidates=[DummyRanker(), Interrupted(5)], ensemble=False).fit(X, Y)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    found = dict(zip(model.leaderboard_["name"], model.leaderboard_["folds"], strict=True))
    assert [found["DummyRanker"], found["Interrupted"]] == folds
    assert set(model.leaderboard_["status"]) == {"complete" if min(folds) == 3 else "stopped"}
    assert model.predict(X).shape == Y.shape


def test_costs_are_scored_and_learned_as_costs():
    costs = np.exp(-UTILITY)
    missing = pd.DataFrame(np.where(costs < 2, costs, np.nan), columns=["a", "b", "c"])
    model = auto(scoring=get_scorer("mean_cost", cutoff=2.0), candidates=None, cv=2, n_jobs=2, on_empty="ignore").fit(
        X, missing
    )
    assert {"extra trees of costs", "forest of log costs"} < set(model.leaderboard_["name"])
    assert set(model.leaderboard_["status"]) == {"complete"}
    assert list(labels_of(model.best_estimator_)) == ["a", "b", "c"]
    single_best = np.where(costs < 2, costs, 20).mean(axis=0).min()
    assert -model.best_score_ < single_best
    assert mean_cost(missing, model.predict(X), cutoff=2.0) < single_best


def test_regression_of_costs():
    costs = np.exp(-UTILITY)
    for log in (False, True):
        ranker = CostRegressionRanker(log=log).fit(X, costs)
        forest = RandomForestRegressor(random_state=0).fit(X, np.log(np.maximum(costs, 0.01)) if log else costs)
        np.testing.assert_allclose(ranker.decision_function(X), -forest.predict(X))
    with pytest.raises(ValueError, match="y must be a matrix of finite costs"):
        CostRegressionRanker().fit(X, PreferenceGraphs.from_rankings(Y))
    with pytest.raises(ValueError, match="costs in y must be ≥ 0 if log=True"):
        CostRegressionRanker().fit(X, -costs)
    with pytest.raises(TypeError, match=r"regressor must be a regressor, .*, got LogLinearRanker\(\)"):
        CostRegressionRanker(LogLinearRanker()).fit(X, costs)


def test_pairs_weighted_by_costs():
    costs = pd.DataFrame(np.round(np.exp(-UTILITY), 1), columns=["a", "b", "c"])  # with ties
    weight = np.arange(len(X)) % 3 + 1.0
    ranker = CostWeightedRanker(DecisionTreeRanker(max_depth=3)).fit(X, costs, sample_weight=weight)
    pairs = [
        (i, j, k, costs.iloc[i, k] - costs.iloc[i, j])
        for i in range(len(X))
        for j in range(3)
        for k in range(3)
        if costs.iloc[i, j] < costs.iloc[i, k]
    ]
    instance, better, worse, gain = map(np.array, zip(*pairs, strict=True))
    graphs = PreferenceGraphs.from_pairs(instance, better, worse, gain / gain.mean(), n_instances=len(X), n_labels=3)
    tree = DecisionTreeRanker(max_depth=3).fit(X, graphs, sample_weight=weight)
    np.testing.assert_allclose(ranker.decision_function(X), tree.decision_function(X))
    assert list(ranker.labels_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="y must be a matrix of finite costs"):
        CostWeightedRanker(DecisionTreeRanker()).fit(X, costs.where(costs > 1))
    with pytest.raises(TypeError, match=r"ranker must be a ranker, .*, got LogisticRegression\(\)"):
        CostWeightedRanker(LogisticRegression()).fit(X, costs)


def test_files(tmp_path):
    model = auto(candidates=[LogLinearRanker(), KNeighborsRanker(5)]).fit(X, Y)
    labelrank.save(model, tmp_path / "auto.lrk")
    loaded = labelrank.load(tmp_path / "auto.lrk")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.leaderboard_.rows() == model.leaderboard_.rows()
