"""The number of neighbors against a loop that leaves out each row and fits again."""

import numpy as np
import pytest
from callbacks import Steps
from neighbors.neighbor_data import QUERIES, WEIGHTS, K, N, battles, make
from oracles import neighbors as oracle
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from labelrank.metrics import kendall_tau
from labelrank.neighbors import KNeighborsRanker, KNeighborsRankerCV
from labelrank.neighbors.ranker_cv import default_candidates

pytestmark = pytest.mark.filterwarnings("ignore:y has .* without any observed pair:UserWarning")


def own_weights(distances):
    return 1 / (1 + distances / (0.1 + distances[:, -1:]))


@pytest.mark.parametrize("kind", ["complete", "tied", "missing", "battles"])
@pytest.mark.parametrize(
    ("weights", "aggregation"), [*((weights, "mallows") for weights in [*WEIGHTS, own_weights]), ("distance", "borda")]
)
def test_scores_of_a_loop_that_fits_again(kind, weights, aggregation):
    X, y = make("complete", n=16)[0], battles(16) if kind == "battles" else make(kind, n=16)[1]
    if kind != "battles":
        X[5], y[5] = X[6], y[6]  # distance zero; the same y, since either may be the last of the k neighbors of others
    candidates = [1, 4, 11]
    ranker = KNeighborsRankerCV(candidates, weights=weights, aggregation=aggregation).fit(X, y)
    np.testing.assert_allclose(ranker.cv_scores_, literal_scores(ranker, X, y), atol=1e-12)
    assert ranker.n_neighbors_ == candidates[int(np.argmax(ranker.cv_scores_ >= ranker.cv_scores_.max() - 1e-10))]
    assert ranker.best_score_ == ranker.cv_scores_.max()


@pytest.mark.parametrize("aggregation", ["mallows_completed", "plackett_luce"])
@pytest.mark.parametrize("kind", ["complete", "missing"])
def test_scores_of_a_loop_without_sums(aggregation, kind):
    X, y = make(kind, n=22)
    ranker = KNeighborsRankerCV([1, 4, 10], aggregation=aggregation, weights="dudani").fit(X, y)
    np.testing.assert_allclose(ranker.cv_scores_, literal_scores(ranker, X, y), atol=1e-12)


def literal_scores(ranker, X, y):
    """Leave one row out, fit, predict it; for each candidate."""
    params = {name: value for name, value in ranker.get_params().items() if name != "n_neighbors"}
    n = len(X)
    scores = []
    for k in ranker.candidates_:
        taus = []
        for i in ranker.rows_:
            others = np.delete(np.arange(n), i)
            fitted = KNeighborsRanker(int(k), **params).fit(X[others], y[others])
            taus.append(kendall_tau(y[[i]], fitted.predict(X[[i]])))
        scores.append(np.mean(taus))
    return np.array(scores)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", ["complete", "missing"])
def test_the_chosen_number_with_weights_is_that_of_repeated_rows(weights, kind):
    X, y = make(kind)
    weight = np.random.default_rng(1).integers(0, 4, N)
    ours = KNeighborsRankerCV(weights=weights).fit(X, y, sample_weight=weight)
    theirs = KNeighborsRankerCV(weights=weights).fit(*oracle.repeat_rows(X, y, weight))
    np.testing.assert_array_equal(ours.candidates_, theirs.candidates_)
    np.testing.assert_allclose(ours.cv_scores_, theirs.cv_scores_, atol=1e-12)
    assert ours.n_neighbors_ == theirs.n_neighbors_


def test_it_then_is_the_ranker_with_that_number():
    X, y = make("missing")
    chosen = KNeighborsRankerCV(weights="dudani").fit(X, y)
    plain = KNeighborsRanker(chosen.n_neighbors_, weights="dudani").fit(X, y)
    for method in ("predict", "decision_function", "pairwise_proba", "predict_spread"):
        np.testing.assert_array_equal(getattr(chosen, method)(QUERIES), getattr(plain, method)(QUERIES))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_progress(n_jobs):
    X, y = make("missing", n=3000)
    steps = Steps()
    ranker = KNeighborsRankerCV(range(1, 400), n_jobs=n_jobs).set_callbacks(steps).fit(X, y)
    assert steps.total == len(steps.names) > 1
    assert set(steps.names) == {"block"}
    np.testing.assert_array_equal(steps.fitted[-1].cv_scores_, ranker.cv_scores_)


def test_an_interrupted_fit_has_the_scores_of_the_rows_so_far():
    X, y = make("missing", n=3000)
    ranker = KNeighborsRankerCV(range(1, 400))
    whole = clone(ranker).fit(X, y)
    steps = Steps(stop_after=1)
    stopped = clone(ranker).set_callbacks(steps).fit(X, y)
    with pytest.warns(UserWarning, match=r"KNeighborsRankerCV was interrupted after 1 of \d+ blocks"):
        interrupted = clone(ranker).set_callbacks(Steps(interrupt_after=1)).fit(X, y)
    for early in (stopped, interrupted, steps.fitted[0]):
        assert early.best_score_ == early.cv_scores_.max()
        assert 0 < np.abs(early.cv_scores_ - whole.cv_scores_).max() < 0.1
        assert early.predict(QUERIES).shape == (len(QUERIES), K)


def test_candidates():
    assert default_candidates(0).tolist() == [1]
    assert default_candidates(4).tolist() == [1, 2, 3, 4]
    assert (np.diff(default_candidates(10_000)) > 0).all()
    X, y = make("complete")
    assert KNeighborsRankerCV([9, 3, 3]).fit(X, y).candidates_.tolist() == [3, 9]
    assert KNeighborsRankerCV(4).fit(X, y).n_neighbors_ == 4


def test_in_a_search():
    X, y = make("missing", n=120)
    search = GridSearchCV(
        KNeighborsRanker(), {"n_neighbors": [3, 10, 30], "weights": ["uniform", "dudani"]}, cv=KFold(4)
    ).fit(X, y)
    assert search.best_score_ > 0.4
    assert cross_val_score(KNeighborsRankerCV(), X, y, cv=KFold(4)).mean() > 0.4
    distances = pairwise_distances(X)
    scores = cross_val_score(KNeighborsRanker(10, metric="precomputed"), distances, y, cv=KFold(4))
    np.testing.assert_allclose(scores, cross_val_score(KNeighborsRanker(10), X, y, cv=KFold(4)))


def test_fractional_weights_that_just_reach_a_candidate():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(21, 2)), np.array([rng.permutation(3) + 1.0 for _ in range(21)])
    weight = np.r_[1.0, np.full(10, 0.1), np.ones(10)]
    candidates = list(range(1, 12))
    model = KNeighborsRankerCV(candidates).fit(X, y, sample_weight=weight)
    assert np.isfinite(model.cv_scores_).all()
    assert model.best_score_ == model.cv_scores_.max()
    slow = KNeighborsRankerCV(candidates, aggregation="mallows_completed").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.cv_scores_, slow.cv_scores_)


@pytest.mark.parametrize("kind", ["complete", "missing", "battles"])
def test_weights_that_are_huge(kind):
    """Rows that weigh 1e37 and more are so many rows: the nearest one alone fills all places."""
    X, y = make("complete", n=22)[0], battles(22) if kind == "battles" else make(kind, n=22)[1]
    one = KNeighborsRankerCV([1]).fit(X, y, sample_weight=np.full(22, 1e6))
    for scale in (1e36, 1e300):
        huge = KNeighborsRankerCV().fit(X, y, sample_weight=np.full(22, scale))
        assert huge.n_neighbors_ == 1
        np.testing.assert_allclose(huge.cv_scores_, one.best_score_)
        np.testing.assert_array_equal(huge.predict(QUERIES), one.predict(QUERIES))
    with pytest.raises(ValueError, match="sample_weight sums to infinity; divide the weights"):
        KNeighborsRankerCV().fit(X, y, sample_weight=np.full(22, 1e308))


@pytest.mark.parametrize("ranker", [KNeighborsRanker(2), KNeighborsRankerCV([1, 2])], ids=str)
def test_no_row_with_a_pair_is_reported(ranker):
    X, y = np.arange(5.0)[:, np.newaxis], np.full((5, 3), np.nan)
    with pytest.raises(ValueError, match="y has 5 rows without any observed pair"):
        clone(ranker).set_params(on_empty="error").fit(X, y)
    with pytest.warns(UserWarning, match="y has 5 rows without any observed pair"):
        clone(ranker).fit(X, y)
