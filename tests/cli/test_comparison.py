"""The numbers of ``labelrank compare``, without the printing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import RepeatedKFold, cross_val_score

from labelrank import DummyRanker, PreferenceGraphs, RankerMixin, all_rankers, mask_rankings
from labelrank.cli.choices import METRICS, choose_metrics, choose_rankers
from labelrank.cli.comparison import Protocol, available_rankers, compare_rankers
from labelrank.datasets import make_label_ranking
from labelrank.metrics import get_scorer

X, Y = make_label_ranking(n_samples=80, n_labels=4, random_state=0)


class Recorder(RankerMixin, BaseEstimator):
    """Keeps what it was given, scores labels at random."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.seen.append((X, y))
        self.labels_ = np.arange(y.shape[1])
        return self

    def decision_function(self, X):
        return np.tile(self.labels_, (len(X), 1))


class Broken(RankerMixin, BaseEstimator):
    def fit(self, X, y, sample_weight=None):
        raise ValueError("no rankings today")


def test_scores_equal_cross_val_score_on_the_same_splits():
    comparison = compare_rankers(
        available_rankers(X, 3), X, Y, Protocol(3, 1, seed=3), metrics=choose_metrics(["tau", "zero_one"])
    )
    cv = RepeatedKFold(n_splits=3, n_repeats=1, random_state=3)
    assert len(comparison.rows) == len(available_rankers(X))
    for row in comparison.rows:
        ranker = available_rankers(X, 3)[row.ranker]
        np.testing.assert_array_equal(row.scores["tau"], cross_val_score(ranker, X, Y, cv=cv))
        errors = -cross_val_score(ranker, X, Y, cv=cv, scoring=get_scorer("zero_one_error"))
        np.testing.assert_array_equal(row.scores["zero_one"], errors)
        assert row.mean("tau") == row.scores["tau"].mean()
        assert row.std("tau") == row.scores["tau"].std()
        assert len(row.fit_seconds) == len(row.predict_seconds) == 3
        assert (row.fit_seconds > 0).all()


@pytest.mark.parametrize(("metric", "sign"), [("tau", -1), ("disagreement", 1)])
def test_best_first(metric, sign):
    rankers = {name: available_rankers(X)[name] for name in ("dummy-random", "dummy-borda", "dummy-kemeny")}
    rows = compare_rankers(rankers, X, Y, Protocol(5, 1), metrics=[METRICS[metric]]).rows
    means = [row.mean(metric) for row in rows]
    assert means == sorted(means, key=lambda mean: sign * mean)
    assert rows[-1].ranker == "dummy-random"


def test_all_rankers_take_part():
    names = set(available_rankers(X))
    assert {"dummy-borda", "dummy-copeland", "dummy-kemeny", "dummy-random"} <= names
    assert set(all_rankers()) - {"AutoRanker", "DummyRanker", "GraphRanker"} <= names
    assert available_rankers(X, 5)["dummy-random"].random_state == 5


@pytest.mark.parametrize("how", ["random", "top"])
@pytest.mark.parametrize("y", [Y, PreferenceGraphs.from_rankings(Y)], ids=["ranks", "graphs"])
def test_labels_are_hidden_in_the_training_folds_only(how, y):
    Recorder.seen = []
    protocol = Protocol(4, 2, seed=1, missing=0.5, missing_how=how)
    comparison = compare_rankers({"a": Recorder(), "b": Recorder()}, X, y, protocol)
    first, second = Recorder.seen[1:9], Recorder.seen[10:]  # the first of each is the warm-up
    splits = list(RepeatedKFold(n_splits=4, n_repeats=2, random_state=1).split(X))
    patterns = []
    for (seen_X, seen_y), (_, other_y), (train, _) in zip(first, second, splits, strict=True):
        np.testing.assert_array_equal(seen_X, X[train])
        ranks = seen_y.to_ranks() if isinstance(seen_y, PreferenceGraphs) else seen_y
        other = other_y.to_ranks() if isinstance(other_y, PreferenceGraphs) else other_y
        np.testing.assert_array_equal(ranks, other)  # all rankers see the same labels
        hidden = np.isnan(ranks)
        np.testing.assert_array_equal(ranks[~hidden], Y[train][~hidden])
        assert 0.3 < hidden.mean() < 0.7
        if how == "top":
            np.testing.assert_array_equal(ranks, mask_rankings(Y[train], 0.5, "top"))
        patterns.append(hidden.tobytes())
    if how == "random":
        assert len(set(patterns)) == 8  # another coin in each fold
    # The test folds are complete: the prediction is fixed, so is its tau.
    fixed = compare_rankers({"a": Recorder()}, X, y, Protocol(4, 2, seed=1)).rows[0]
    np.testing.assert_array_equal(comparison.rows[0].scores["tau"], fixed.scores["tau"])


def test_compilation_is_not_timed():
    """Each ranker is fitted once on a few rows of the first fold before the first fit that is timed."""
    Recorder.seen = []
    many = np.tile(X, (3, 1))
    (row,) = compare_rankers({"a": Recorder()}, many, np.tile(Y, (3, 1)), Protocol(2, 1)).rows
    assert [len(seen_X) for seen_X, _ in Recorder.seen] == [100, 120, 120]
    assert len(row.fit_seconds) == 2


def test_a_warm_up_that_fails_is_not_told():
    class NeedsMany(Recorder):
        def fit(self, X, y, sample_weight=None):
            warnings.warn("hm", UserWarning, stacklevel=2)
            if len(X) <= 100:
                raise ValueError("too few")
            return super().fit(X, y)

    comparison = compare_rankers({"a": NeedsMany()}, np.tile(X, (3, 1)), np.tile(Y, (3, 1)), Protocol(2, 1))
    assert comparison.rows[0].error is None
    assert len(comparison.rows[0].warnings) == 2


def test_the_seed_decides():
    def run(seed):
        rankers = choose_rankers(available_rankers(X, seed), "ExtraTreesRanker,KNeighborsRanker,dummy-random")
        rows = compare_rankers(rankers, X, Y, Protocol(3, 2, seed=seed, missing=0.4)).rows
        return {row.ranker: row.scores["tau"].tolist() for row in rows}

    assert run(0) == run(0)
    assert run(0) != run(1)


def test_processes_give_the_same_scores():
    rankers = choose_rankers(available_rankers(X), "dummy-borda,dummy-random")
    alone, together = (compare_rankers(rankers, X, Y, Protocol(3, 1), n_jobs=n) for n in (1, 2))
    for a, b in zip(alone.rows, together.rows, strict=True):
        assert a.ranker == b.ranker
        np.testing.assert_array_equal(a.scores["tau"], b.scores["tau"])


def test_a_ranker_that_fails_comes_last_with_its_reason():
    steps = []
    comparison = compare_rankers(
        {"broken": Broken(), "fine": DummyRanker()}, X, Y, Protocol(3, 1), advance=lambda: steps.append(1)
    )
    assert [row.ranker for row in comparison.rows] == ["fine", "broken"]
    assert comparison.rows[1].error == "ValueError: no rankings today"
    assert np.isnan(comparison.rows[1].mean("tau"))
    assert len(steps) == 6


def test_warnings_and_undefined_folds_are_kept():
    y = Y.copy()
    y[:40] = np.nan  # the first of two folds without shuffling would be empty; here some folds are short
    y[40:42] = np.nan
    rows = compare_rankers({"dummy": DummyRanker()}, X, y, Protocol(20, 1)).rows
    undefined = np.isnan(rows[0].scores["tau"])
    assert undefined.any()
    assert rows[0].mean("tau") == rows[0].scores["tau"][~undefined].mean()
    assert any("without any observed pair" in text for text in rows[0].warnings)


def test_choosing():
    assert list(choose_rankers(available_rankers(X), " Dummy-Kemeny , dummy-borda,")) == ["dummy-kemeny", "dummy-borda"]
    assert [m.name for m in choose_metrics(["tau,kendall_tau", "NDCG", "dominated_error"])] == [
        "tau",
        "ndcg",
        "dominated",
    ]
    with pytest.raises(ValueError, match="there is no ranker 'dummy-brda'; did you mean 'dummy-borda'"):
        choose_rankers(available_rankers(X), "dummy-brda")
    with pytest.raises(ValueError, match=r"there is no metric 'accuracy'\. Known: tau, tau_b"):
        choose_metrics(["accuracy"])
    with pytest.raises(ValueError, match="no ranker is named"):
        choose_rankers(available_rankers(X), ",")
