"""Conformal ranking: the guarantee, the orders, groups, and bad input."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import decompositions as oracle
from oracles.graphs import edges_by_instance
from oracles.trust import is_strict_partial_order, pairs_by_row, slack_of_edges, threshold_by_definition
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from strategies import rank_matrices

import labelrank
from labelrank import (
    ConformalRanker,
    DummyRanker,
    LogLinearRanker,
    PairwiseCalibrator,
    PreferenceGraphs,
    RankerMixin,
    as_graphs,
    mask_rankings,
)
from labelrank.datasets import make_label_ranking
from labelrank.trust.slacks import slacks_of_parts, slacks_of_top, smallest_threshold

X, Y = make_label_ranking(400, 4, n_labels=5, random_state=0)
LINEAR = make_pipeline(StandardScaler(), LogLinearRanker())


@given(rank_matrices(), st.integers(0, 10**6), st.sampled_from(["zero_one", "disagreement", "domination", "dominated"]))
def test_slacks_of_parts_are_the_largest_contradictions(ranks, seed, name):
    graphs, scores = as_graphs(ranks), np.random.default_rng(seed).normal(size=ranks.shape).round(1)
    found = slacks_of_parts(graphs, scores, name)
    for row, edges in enumerate(edges_by_instance(graphs)):
        parts = getattr(oracle, name)(edges)
        own = found.row == row
        expected = sorted(slack_of_edges(part, scores[row]) for part in parts)
        assert sorted(found.slack[own].tolist()) == pytest.approx(expected)
        assert found.weight[own].sum() == pytest.approx(float(bool(parts)))


@given(rank_matrices(), st.integers(0, 10**6), st.integers(1, 3))
def test_slack_of_the_top_is_what_its_set_needs(ranks, seed, k):
    k = min(k, ranks.shape[1])
    scores = np.random.default_rng(seed).normal(size=ranks.shape)
    found = slacks_of_top(as_graphs(ranks), scores, k)
    for row, slack in zip(found.row, found.slack, strict=True):
        known = ~np.isnan(ranks[row])
        top = [a for a in np.flatnonzero(known) if (ranks[row][known] < ranks[row, a]).sum() < k]
        lowest = np.sort(scores[row])[-k] - slack
        assert (scores[row][top] >= lowest - 1e-12).all()
        if slack > 0:
            assert scores[row][top].min() == pytest.approx(lowest)


@given(st.lists(st.integers(0, 5).map(float), min_size=1, max_size=30), st.sampled_from([0.01, 0.05, 0.1, 0.25, 0.5]))
def test_threshold_by_definition(slacks, alpha):
    expected = threshold_by_definition(slacks, alpha)
    assert smallest_threshold(np.array(slacks), np.ones(len(slacks)), len(slacks), alpha) == expected
    twice = np.array(slacks * 2)
    assert smallest_threshold(np.array(slacks), np.full(len(slacks), 2.0), 2 * len(slacks), alpha) == (
        smallest_threshold(twice, np.ones(len(twice)), len(twice), alpha)
    )


class Scores(RankerMixin, BaseEstimator):
    """X holds the scores."""

    def fit(self, X, y, sample_weight=None):
        self.labels_ = as_graphs(y).labels
        return self

    def decision_function(self, X):
        return np.asarray(X)


def noisy(n, seed):
    """Scores, and true rankings that follow them with noise of a size that differs between instances."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, 5)) * rng.uniform(0.2, 3, (n, 1))
    return scores, np.argsort(np.argsort(-(scores + rng.normal(size=(n, 5)) * 0.5))) + 1.0


@pytest.mark.parametrize("normalize", ["ambiguity", None, lambda model, X: 1 + np.abs(X).mean(axis=1)])
@pytest.mark.parametrize(("target", "k"), [("ranking", 1), ("top_k", 2), ("decomposition", 1)])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_guarantee_holds_on_average(normalize, target, k, alpha):
    found, complete = [], []
    for seed in range(40):
        scores, ranks = noisy(700, seed)
        ranker = ConformalRanker(
            Scores().fit(scores, ranks), alpha=alpha, cv="prefit", target=target, k=k, normalize=normalize
        ).fit(scores[:100], ranks[:100])
        found.append(ranker.coverage(scores[100:], ranks[100:]))
        complete.append(ranker.completeness(scores[100:]))
    spread = np.std(found) / np.sqrt(len(found))
    assert np.mean(found) > 1 - alpha - 2.6 * spread
    if ranker.thresholds_[0] > 0:  # otherwise complete rankings are good enough
        assert np.mean(found) < 1 - alpha + 1 / 100 + 2.6 * spread
    assert 0.05 < np.mean(complete) <= 1


@pytest.mark.parametrize("cv", [None, 4, ShuffleSplit(1, test_size=0.3, random_state=1)])
def test_orders_buckets_and_names(cv):
    names = [f"l{i}" for i in range(5)]
    ranker = ConformalRanker(LINEAR, cv=cv, alpha=0.2, random_state=0).fit(
        X[:300], pd.DataFrame(Y[:300], columns=names)
    )
    graphs, buckets, ranks = (getattr(ranker, m)(X[300:]) for m in ("predict_partial", "predict_buckets", "predict"))
    assert graphs.labels.tolist() == names == ranker.labels_.tolist()
    for row, pairs in enumerate(pairs_by_row(graphs)):
        assert is_strict_partial_order(pairs)
        assert all(ranks[row, a] < ranks[row, b] for a, b in pairs)
        assert {(a, b) for a in range(5) for b in range(5) if buckets[row, a] < buckets[row, b]} <= pairs
    assert ranker.completeness(X[300:]) == pytest.approx(graphs.n_edges / (100 * 10))
    assert ranker.coverage(X[300:], Y[300:]) > 0.6
    assert ranker.score(X[300:], Y[300:]) == pytest.approx(ranker.estimator_.score(X[300:], Y[300:]))


def test_coverage_is_the_share_of_rows_without_a_reversed_pair():
    ranker = ConformalRanker(LINEAR, alpha=0.3, random_state=0).fit(X, Y)
    truth = mask_rankings(Y, 0.3, random_state=0)
    kept = [
        not any(truth[row, b] < truth[row, a] for a, b in pairs)
        for row, pairs in enumerate(pairs_by_row(ranker.predict_partial(X)))
        if (np.unique(truth[row][~np.isnan(truth[row])]).size) > 1
    ]
    assert ranker.coverage(X, truth) == pytest.approx(np.mean(kept))


def test_sets_contain_at_least_k_labels():
    ranker = ConformalRanker(LINEAR, target="top_k", k=2, random_state=0).fit(X[:300], Y[:300])
    chosen = ranker.predict_set(X[300:])
    assert chosen.shape == (100, 5)
    assert (chosen.sum(axis=1) >= 2).all()
    top = Y[300:] <= 2
    assert ranker.coverage(X[300:], Y[300:]) == pytest.approx((~(top & ~chosen).any(axis=1)).mean())
    assert ranker.completeness(X[300:]) == pytest.approx((~chosen).sum() / (100 * 3))


def test_a_decomposition_asserts_more_than_a_ranking():
    pairs = ConformalRanker(LINEAR, target="decomposition", random_state=0).fit(X, Y)
    whole = ConformalRanker(LINEAR, target="decomposition", decomposition="zero_one", random_state=0).fit(X, Y)
    ranking = ConformalRanker(LINEAR, random_state=0).fit(X, Y)
    assert pairs.completeness(X) > ranking.completeness(X)
    assert whole.thresholds_.tolist() == ranking.thresholds_.tolist()


def test_an_uninformative_ranker_asserts_nothing():
    constant = ConformalRanker(DummyRanker(strategy="random", random_state=0), alpha=0.05, random_state=0)
    assert constant.fit(X, Y).completeness(X) < 0.05


def test_groups_have_their_own_thresholds():
    scores, ranks = noisy(2000, 0)
    groups = np.repeat(["easy", "hard"], 1000)
    ranks[1000:] = np.random.default_rng(0).permuted(ranks[1000:], axis=1)
    fitted = Scores().fit(scores, ranks)
    ranker = ConformalRanker(fitted, cv="prefit", normalize=None).fit(scores[::2], ranks[::2], groups=groups[::2])
    assert ranker.groups_.tolist() == ["easy", "hard"]
    assert ranker.thresholds_[0] < ranker.thresholds_[1]
    for name in ("easy", "hard"):
        own = groups[1::2] == name
        assert 0.85 < ranker.coverage(scores[1::2][own], ranks[1::2][own], groups=groups[1::2][own]) <= 1
    with pytest.raises(ValueError, match="groups must be passed in prediction if and only if"):
        ranker.predict_partial(scores)
    with pytest.raises(ValueError, match=r"groups has \['other'\], which were not passed to fit"):
        ranker.predict_partial(scores[:1], groups=["other"])
    with pytest.raises(ValueError, match="groups must have one value for each of the 3 rows"):
        ranker.predict_partial(scores[:3], groups=["easy"])


def test_weights_are_no_evidence_in_calibration():
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    ranker = ConformalRanker(LogLinearRanker().fit(X, Y), cv="prefit")
    by_weight = ranker.fit(X, Y, sample_weight=weight).thresholds_
    assert by_weight.tolist() == ranker.fit(X[weight > 0], Y[weight > 0]).thresholds_.tolist()
    with pytest.warns(UserWarning, match="5 calibration rows are too few"):
        ranker.fit(X[:5], Y[:5], sample_weight=np.full(5, 100.0))
    folds = RepeatedKFold(n_splits=2, n_repeats=20, random_state=0)
    assert ConformalRanker(LogLinearRanker(), 0.4, cv=folds).fit(X[:20], Y[:20]).n_calibration_ == pytest.approx([20.0])


def test_a_fitted_ranker_keeps_its_labels():
    names = ["a", "b", "c", "d", "e"]
    fitted = LogLinearRanker().fit(X[:200], pd.DataFrame(Y[:200], columns=names))
    y = pd.DataFrame(Y[200:], columns=names)
    expected = ConformalRanker(fitted, cv="prefit").fit(X[200:], y)
    for other in (y[["e", "c", "a", "b", "d"]], Y[200:]):
        found = ConformalRanker(fitted, cv="prefit").fit(X[200:], other)
        assert found.thresholds_ == pytest.approx(expected.thresholds_)
        assert found.labels_.tolist() == names
        assert PairwiseCalibrator(fitted, cv="prefit").fit(X[200:], other).slope_ == pytest.approx(
            PairwiseCalibrator(fitted, cv="prefit").fit(X[200:], y).slope_
        )
    for wrapper in (ConformalRanker, PairwiseCalibrator):
        with pytest.raises(ValueError, match="name different labels"):
            wrapper(fitted, cv="prefit").fit(X[200:], y.rename(columns={"a": "z"}))
        with pytest.raises(ValueError, match="y has 3 labels, but LogLinearRanker was fitted with 5"):
            wrapper(fitted, cv="prefit").fit(X[200:], Y[200:, :3])


@pytest.mark.filterwarnings("ignore:y has")
def test_labels_that_were_never_compared_come_last():
    y = Y.copy()
    y[:, 3] = np.nan
    ranker = ConformalRanker(LINEAR, alpha=0.3, random_state=0).fit(X, y)
    pairs = pairs_by_row(ranker.predict_partial(X))
    assert all({pair for pair in row if 3 in pair} == {(0, 3), (1, 3), (2, 3), (4, 3)} for row in pairs)
    assert all(is_strict_partial_order(row) for row in pairs[:20])
    assert (ranker.predict_buckets(X)[:, 3] == 5).all()
    assert not ConformalRanker(LINEAR, alpha=0.3, target="top_k", random_state=0).fit(X, y).predict_set(X)[:, 3].any()
    calibrated = PairwiseCalibrator(LINEAR, random_state=0).fit(X, y)
    assert all((3, a) not in row for row in pairs_by_row(calibrated.predict_partial(X, 0.5)) for a in range(5))


def test_too_few_rows_assert_nothing_and_warn():
    with pytest.warns(UserWarning, match=r"5 calibration rows are too few for alpha=0.1.*at least 9 are needed"):
        ranker = ConformalRanker(LogLinearRanker().fit(X, Y), cv="prefit").fit(X[:5], Y[:5])
    assert ranker.completeness(X) == 0
    assert ranker.coverage(X, Y) == 1
    assert (ranker.predict_buckets(X) == 1).all()


def test_inside_of_a_search_and_around_a_pipeline():
    search = GridSearchCV(ConformalRanker(LINEAR, random_state=0), {"alpha": [0.1, 0.3]}, cv=2).fit(X, Y)
    assert labelrank.predict_partial(search, X[:2]).shape == (2, 5)
    assert labelrank.confidence(search, X[:2]).shape == (2,)
    assert search.best_estimator_.confidence(X[:2]).tolist() == labelrank.confidence(search, X[:2]).tolist()
    with pytest.raises(ValueError, match=r"threshold=0.9 is for pair probabilities"):
        labelrank.predict_partial(search, X[:2], 0.9)
    sets = make_pipeline(ConformalRanker(LINEAR, target="top_k", random_state=0)).fit(X, Y)
    with pytest.raises(AttributeError, match="predict_set"):
        labelrank.predict_partial(sets, X[:2])
    grouped = ConformalRanker(LINEAR, cv=GroupKFold(2)).fit(X, Y, groups=np.arange(400) % 4)
    assert labelrank.predict_partial(make_pipeline(grouped), X[:2], groups=[0, 3]).shape == (2, 5)
    with pytest.raises(ValueError, match="groups are for ConformalRanker"):
        labelrank.predict_partial(LINEAR.fit(X, Y), X[:2], groups=[0, 1])


@pytest.mark.parametrize("target", ["ranking", "decomposition", "top_k"])
def test_another_alpha_without_fitting_again(target):
    groups = np.arange(len(X)) % 2
    ranker = ConformalRanker(LogLinearRanker(), target=target, random_state=0).fit(X, Y, groups=groups)
    again = ConformalRanker(LogLinearRanker(), target=target, random_state=0, alpha=0.3).fit(X, Y, groups=groups)
    other = ranker.with_alpha(0.3)
    np.testing.assert_array_equal(other.thresholds_, again.thresholds_)
    assert other.estimator_ is ranker.estimator_
    assert (other.alpha, ranker.alpha) == (0.3, 0.1)
    with pytest.raises(ValueError, match="'alpha' parameter"):
        ranker.with_alpha(0)
    with pytest.raises(NotFittedError):
        ConformalRanker(LogLinearRanker()).with_alpha(0.3)


def test_bad_arguments_and_failed_refits():
    ranker = ConformalRanker(LogLinearRanker(), random_state=0)
    with pytest.raises(NotFittedError):
        ranker.predict_partial(X)
    before = ranker.fit(X, Y).thresholds_
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ranker.fit(X, Y[:-1])
    assert ranker.thresholds_ is before
    with pytest.raises(ValueError, match="'alpha' parameter"):
        ConformalRanker(LogLinearRanker(), alpha=1).fit(X, Y)
    with pytest.raises(ValueError, match="k=6 is larger than the number of labels, 5"):
        ConformalRanker(LogLinearRanker(), target="top_k", k=6).fit(X, Y)
    with pytest.raises(ValueError, match="normalize must return 100 positive"):
        ConformalRanker(LogLinearRanker(), normalize=lambda model, X: np.zeros(len(X))).fit(X, Y)
    with pytest.raises(ValueError, match="groups has missing values"):
        ranker.fit(X, Y, groups=["a", None] * 200)
    battles = PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0], n_instances=400, n_labels=5)
    with pytest.raises(ValueError, match=r'target="top_k" needs rankings'):
        ConformalRanker(LogLinearRanker().fit(X, Y), cv="prefit", target="top_k").fit(X, battles)
    with pytest.raises(AttributeError, match="predict_set"):
        ranker.predict_set  # noqa: B018
    with pytest.raises(AttributeError, match="predict_partial"):
        ConformalRanker(LogLinearRanker(), target="top_k").predict_partial  # noqa: B018
    with pytest.raises(NotFittedError):
        ConformalRanker(LogLinearRanker(), cv="prefit").fit(X, Y)
