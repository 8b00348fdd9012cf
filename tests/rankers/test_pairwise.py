"""Ranking by pairwise comparison against a loop over the pairs, written out with scikit-learn."""

import numpy as np
import pytest
from callbacks import Steps
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from labelrank import DummyRanker, PreferenceGraphs, as_graphs
from labelrank.datasets import load_iris_rankings, load_wine_rankings, make_label_ranking, make_pairwise_battles
from labelrank.pairs import pair_shares
from labelrank.rankers.pairwise import PairwiseRanker

NAN = float("nan")


def by_hand(estimator, X, y, X_new, weight=None, how="probability"):
    """P(i before j) from one model per pair, straight from the ranks."""
    n, k = y.shape
    proba = np.full((len(X_new), k, k), 0.5)
    for i in range(k):
        for j in range(i + 1, k):
            rows = [r for r in range(n) if y[r, i] < y[r, j] or y[r, i] > y[r, j]]
            rows = [r for r in rows if weight is None or weight[r] > 0]
            first = [bool(y[r, i] < y[r, j]) for r in rows]
            if not rows:
                p = np.full(len(X_new), 0.5)
            elif len(set(first)) == 1:
                p = np.full(len(X_new), float(first[0]))
            else:
                extra = {} if weight is None else {"sample_weight": [weight[r] for r in rows]}
                model = clone(estimator).fit(X[rows], first, **extra)
                p = model.predict_proba(X_new)[:, 1] if how == "probability" else model.predict(X_new).astype(float)
            proba[:, i, j], proba[:, j, i] = p, 1 - p
    return proba


def incomplete(n=60, k=4, seed=0):
    X, y = make_label_ranking(n, 3, n_labels=k, missing=0.3, ties=0.2, concentration=1.5, random_state=seed)
    return X, y


@pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB(), DecisionTreeClassifier(random_state=0)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("how", ["probability", "vote"])
def test_equals_the_loop_over_pairs(estimator, weighted, how):
    X, y = incomplete()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float) if weighted else None
    ranker = PairwiseRanker(estimator, voting=how, on_empty="ignore").fit(X, y, sample_weight=weight)
    expected = by_hand(estimator, X, y, X[:9], weight, how)
    scores = expected.sum(axis=2) - 0.5
    assert_allclose(ranker.decision_function(X[:9]), scores, rtol=1e-10)
    assert_allclose(ranker.pairwise_proba(X[:9]), by_hand(estimator, X, y, X[:9], weight), rtol=1e-10)
    if how == "vote":
        assert set(np.unique(2 * ranker.decision_function(X))) <= set(range(7))  # whole and half votes


def test_one_class_is_one_against_one():
    """Classes are rankings with one label above all others; two classes are then told apart by their own rows only."""
    X, y = make_label_ranking(90, 3, n_labels=3, random_state=0)
    classes = y.argmin(axis=1)
    ranker = PairwiseRanker(LogisticRegression(), voting="vote").fit(X, PreferenceGraphs.from_multiclass(classes))
    rival = OneVsOneClassifier(LogisticRegression()).fit(X, classes)
    # Both learn from the rows of the two classes: a third class ties them.
    assert len(ranker.estimators_) == len(rival.estimators_) == 3
    for ours, theirs in zip(ranker.estimators_, rival.estimators_, strict=True):
        assert_allclose(ours.coef_, -theirs.coef_, atol=1e-3)
    assert (ranker.predict(X).argmin(axis=1) == rival.predict(X)).mean() > 0.97


@pytest.mark.parametrize("weighted", [False, True])
def test_graphs_of_edges(weighted):
    X, graphs = make_pairwise_battles(80, 4, n_battles=4, random_state=0)
    edges = graphs.to_edges()
    votes = np.random.default_rng(0).integers(1, 4, graphs.n_edges).astype(float) if weighted else None
    graphs = PreferenceGraphs.from_pairs(*edges, votes, n_instances=80, n_labels=4)
    ranker = PairwiseRanker(LogisticRegression()).fit(X, graphs)
    number = 0
    for i in range(4):
        for j in range(i + 1, 4):
            rows, first, weight = [], [], []
            for e in range(graphs.n_edges):
                if {edges.better[e], edges.worse[e]} == {i, j}:
                    rows.append(edges.instance[e])
                    first.append(edges.better[e] == i)
                    weight.append(1.0 if votes is None else votes[e])
            model = LogisticRegression().fit(X[rows], first, sample_weight=weight)
            assert_allclose(ranker.estimators_[number].coef_, model.coef_, rtol=1e-8)
            assert_allclose(ranker.pairwise_proba(X)[:, i, j], model.predict_proba(X)[:, 1])
            number += 1
    assert_allclose(ranker.pair_proba_, pair_shares(graphs.pair_counts()))


def test_levels_and_edges_are_the_same_graphs():
    X, y = incomplete()
    graphs = as_graphs(y)
    stored = PreferenceGraphs.from_pairs(*graphs.to_edges(), n_instances=len(y), n_labels=4)
    first = PairwiseRanker(on_empty="ignore").fit(X, graphs)
    second = PairwiseRanker(on_empty="ignore").fit(X, stored)
    assert_array_equal(first.decision_function(X), second.decision_function(X))


def test_pairs_of_one_class_and_pairs_without_data():
    X = np.arange(8.0)[:, None]
    y = np.column_stack([np.tile([1.0, 2.0], 4), np.tile([2.0, 1.0], 4), np.full(8, 3.0), np.full(8, NAN)])
    ranker = PairwiseRanker().fit(X, y)
    assert [e is None for e in ranker.estimators_] == [False, True, True, True, True, True]
    proba = ranker.pairwise_proba(X)
    assert (proba[:, 0, 2] == 1).all()
    assert (proba[:, 2, 1] == 0).all()
    assert (proba[:, 3, :] == 0.5).all()
    assert_allclose(ranker.decision_function(X)[:, 2:], [[0.5, 1.5]] * 8)
    votes = PairwiseRanker(voting="vote").fit(X, y).decision_function(X)
    assert_allclose(votes[:, 2:], [[0.5, 1.5]] * 8)
    assert_allclose(np.sort(votes[:, :2], axis=1), [[1.5, 2.5]] * 8)


def test_rows_of_weight_zero_do_not_make_a_class():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]])
    ranker = PairwiseRanker().fit(X, y, sample_weight=[1.0, 1.0, 0.0])
    assert ranker.estimators_ == [None]
    assert_array_equal(ranker.predict(X), [[1, 2]] * 3)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_sparse(form):
    X, y = incomplete()
    X[np.abs(X) < 0.5] = 0
    dense = PairwiseRanker(on_empty="ignore").fit(X, y)
    assert_allclose(
        PairwiseRanker(on_empty="ignore").fit(form(X), y).decision_function(form(X)),
        dense.decision_function(X),
        rtol=1e-6,
    )
    with pytest.raises(TypeError, match="Sparse data was passed"):
        PairwiseRanker(HistGradientBoostingClassifier(), on_empty="ignore").fit(form(X), y)


def test_missing_features_where_the_classifier_takes_them():
    X, y = incomplete()
    X[::7, 0] = NAN
    ranker = PairwiseRanker(DecisionTreeClassifier(random_state=0), on_empty="ignore").fit(X, y)
    assert ranker.predict(X).shape == y.shape
    assert ranker.__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(ValueError, match="contains NaN"):
        PairwiseRanker(on_empty="ignore").fit(X, y)


def test_classifiers_without_probabilities():
    X, y = incomplete()
    with pytest.raises(ValueError, match=r'LinearSVC does not have; pass voting="vote", or wrap'):
        PairwiseRanker(LinearSVC()).fit(X, y)
    ranker = PairwiseRanker(LinearSVC(), voting="vote", on_empty="ignore").fit(X, y)
    assert ranker.score(X, y) > 0.3
    assert not hasattr(ranker, "pairwise_proba")
    with pytest.raises(AttributeError, match="pairwise_proba") as caught:
        _ = ranker.pairwise_proba
    assert "CalibratedClassifierCV" in str(caught.value.__cause__)
    wrapped = PairwiseRanker(CalibratedClassifierCV(LinearSVC(), cv=2), on_empty="ignore").fit(X, y)
    assert_allclose(wrapped.pairwise_proba(X).sum(axis=(1, 2)), 8)


def test_classifiers_without_weights():
    X, y = incomplete()
    knn = KNeighborsClassifier(3)
    assert PairwiseRanker(knn, on_empty="ignore").fit(X, y).score(X, y) > 0.4
    PairwiseRanker(knn, on_empty="ignore").fit(X, y, sample_weight=np.ones(len(y)))  # no weights are lost
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight, but the instances or the edges"):
        PairwiseRanker(knn, on_empty="ignore").fit(X, y, sample_weight=np.arange(len(y)))
    battles = PreferenceGraphs.from_pairs([0, 1], [0, 1], [1, 0], [2.0, 1.0])
    with pytest.raises(ValueError, match="or the edges of y have weights"):
        PairwiseRanker(knn).fit([[0.0], [1.0]], battles)


def test_only_classifiers():
    X, y = incomplete()
    for estimator in (Ridge(), make_pipeline(StandardScaler(), Ridge())):
        with pytest.raises(ValueError, match="estimator must be a classifier, got"):
            PairwiseRanker(estimator, voting="vote", on_empty="ignore").fit(X, y)
    votes = PairwiseRanker(RidgeClassifier(), voting="vote", on_empty="ignore").fit(X, y).decision_function(X)
    assert ((votes >= 0) & (votes <= y.shape[1] - 1)).all()


def test_an_error_names_the_pair():
    class Moody(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            raise RuntimeError("not today")

    y = PreferenceGraphs.from_rankings([[1, 2], [2, 1]], labels=["tea", "milk"])
    with pytest.raises(RuntimeError) as caught:
        PairwiseRanker(Moody()).fit([[0.0], [1.0]], y)
    assert caught.value.__notes__ == ["in the classifier of the labels 'tea' and 'milk'"]


def test_as_a_meta_estimator():
    X, y = incomplete()
    estimator = LogisticRegression(C=0.5)
    ranker = PairwiseRanker(estimator, on_empty="ignore")
    assert ranker.get_params()["estimator__C"] == 0.5
    assert ranker.fit(X, y).estimators_[0] is not estimator
    assert not hasattr(estimator, "coef_")
    search = GridSearchCV(ranker, {"estimator__C": [1e-6, 1.0]}, cv=3, error_score="raise").fit(X, y)
    assert search.best_params_ == {"estimator__C": 1.0}
    pipeline = PairwiseRanker(make_pipeline(StandardScaler(), GaussianNB()), on_empty="ignore").fit(X, y)
    plain = PairwiseRanker(GaussianNB(), on_empty="ignore").fit(X, y)
    assert_allclose(pipeline.decision_function(X), plain.decision_function(X), rtol=1e-4)
    assert "LogisticRegression" in ranker._repr_html_()


def test_jobs_change_nothing():
    X, y = incomplete()
    one, two = (PairwiseRanker(n_jobs=n, on_empty="ignore").fit(X, y) for n in (None, 2))
    assert_array_equal(one.decision_function(X), two.decision_function(X))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_progress(n_jobs):
    X, y = incomplete()
    steps = Steps()
    ranker = PairwiseRanker(n_jobs=n_jobs, on_empty="ignore").set_callbacks(steps).fit(X, y)
    assert steps.names == ["pair"] * 6
    assert steps.total == 6
    assert_array_equal(steps.fitted[-1].predict(X), ranker.predict(X))


@pytest.mark.parametrize("voting", ["probability", "vote"])
def test_pairs_that_were_not_reached_are_predicted_by_their_share(voting):
    X, y = incomplete()
    whole = PairwiseRanker(voting=voting, on_empty="ignore").fit(X, y)
    steps = Steps(stop_after=2)
    stopped = clone(whole).set_callbacks(steps).fit(X, y)
    with pytest.warns(UserWarning, match="PairwiseRanker was interrupted after 2 of 6 pairs"):
        interrupted = clone(whole).set_callbacks(Steps(interrupt_after=2)).fit(X, y)
    for early in (stopped, interrupted, steps.fitted[1]):
        assert [e is None for e in early.estimators_] == [False] * 2 + [True] * 4
        proba = early.pairwise_proba(X)
        assert_allclose(proba[:, 0, 1:3], whole.pairwise_proba(X)[:, 0, 1:3])
        assert_allclose(proba[:, 1, 2], whole.pair_proba_[1, 2])
        if voting == "vote":
            assert set(np.unique(2 * early.decision_function(X))) <= set(range(7))


def test_a_failed_fit_keeps_the_model():
    X, y = incomplete()
    ranker = PairwiseRanker(on_empty="ignore").fit(X, y)
    before = ranker.predict(X)
    with pytest.raises(ValueError, match="The 'C' parameter of LogisticRegression must be"):
        ranker.set_params(estimator=LogisticRegression(C=-1)).fit(X, y)
    assert_array_equal(ranker.set_params(estimator=None).predict(X), before)


def test_beats_the_baseline_on_real_rankings():
    X, y = load_iris_rankings(return_X_y=True)
    cv = KFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(PairwiseRanker(), X, y, cv=cv)
    assert scores.mean() > cross_val_score(DummyRanker(), X, y, cv=cv).mean() + 0.3


@pytest.mark.filterwarnings("error")
def test_defaults_work_on_raw_data():
    X, y = load_wine_rankings(return_X_y=True)
    assert cross_val_score(PairwiseRanker(), X, y, cv=KFold(5, shuffle=True, random_state=0)).mean() > 0.92
    wide = sparse.random_array((40, 600), density=0.05, random_state=0)
    assert PairwiseRanker().fit(wide, y[:40]).predict(wide).shape == (40, 3)


def test_one_label_and_one_sample():
    assert_array_equal(PairwiseRanker().fit([[0.0], [1.0]], [[1.0], [1.0]]).predict([[3.0]]), [[1]])
    one = PairwiseRanker().fit([[0.0]], [[2.0, 1.0, NAN]])
    assert_array_equal(one.predict([[5.0]]), [[3, 1, 2]])
    with pytest.raises(ValueError, match="'voting' parameter"):
        PairwiseRanker(voting="loud").fit([[0.0]], [[1.0, 2.0]])
