"""RankRLS under cross-validation: groups left out in closed form, folds, metadata routing."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from rankers.rank_rls_items import GROUPS, WEIGHT, K, M, R, X, Y
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelrank.metrics import group_disagreement
from labelrank.rankers.rank_rls import RankRLS
from labelrank.rankers.rank_rls_cv import RankRLSCV
from labelrank.supervision.groups import group_codes


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_leaving_one_group_out_equals_refitting(kernel):
    alphas, gammas = [0.01, 1.0, 100.0], [0.1, 1.0]
    grid = {"gamma": gammas} if kernel == "rbf" else None
    model = RankRLSCV(alphas, grid, RankRLS(kernel=kernel)).fit(X, Y, groups=GROUPS)
    assert model.grid_ == [{"gamma": gamma} for gamma in gammas] if grid else [{}]
    for i, point in enumerate(model.grid_):
        for k, alpha in enumerate(alphas):
            error = []
            for train, test in LeaveOneGroupOut().split(X, Y, GROUPS):
                fitted = RankRLS(alpha, kernel=kernel, **point).fit(X[train], Y[train], groups=GROUPS[train])
                error.append(1 - fitted.score(X[test], Y[test], groups=None))
            assert_allclose(model.scores_[i, k], 1 - np.mean(error), atol=1e-12)
    assert model.best_score_ == model.scores_.max()
    best = RankRLS(model.alpha_, kernel=kernel, **model.best_params_).fit(X, Y, groups=GROUPS)
    assert_allclose(model.predict(X), best.predict(X), atol=1e-8)
    assert model.best_estimator_.alpha == model.alpha_


def test_leaving_out_groups_of_sparse_items():
    for estimator in (RankRLS(), RankRLS(kernel="rbf", basis=R), RankRLS(kernel="rbf")):
        dense = RankRLSCV([0.1, 10.0], None, estimator).fit(X, Y, groups=GROUPS)
        thin = RankRLSCV([0.1, 10.0], None, estimator).fit(sparse.csr_array(X), Y, groups=GROUPS)
        assert_allclose(thin.scores_, dense.scores_)


@pytest.mark.parametrize("cv", [3, GroupKFold(4), GroupShuffleSplit(3, random_state=0), KFold(3)], ids=str)
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored by KFold:UserWarning")
def test_folds_equal_a_loop(cv):
    model = RankRLSCV([0.1, 10.0], {"gamma": [0.1, 1.0]}, RankRLS(kernel="rbf"), cv=cv).fit(X, Y, groups=GROUPS)
    splitter = GroupKFold(cv) if cv == 3 else cv
    truth, scores, within = [], [], []
    for fold, (train, test) in enumerate(splitter.split(X, Y, GROUPS)):
        fitted = RankRLS(10.0, kernel="rbf", gamma=1.0).fit(X[train], Y[train], groups=GROUPS[train])
        truth.extend(Y[test])
        scores.extend(fitted.predict(X[test]))
        within.extend([(fold, g) for g in GROUPS[test]])
    assert_allclose(model.scores_[1, 1], 1 - group_disagreement(truth, scores, within), atol=1e-12)


def test_precomputed_kernels_and_bases_in_folds():
    by_features = RankRLSCV([0.1, 10.0], None, RankRLS(kernel="rbf", gamma=0.3, basis=R), cv=3).fit(X, Y, groups=GROUPS)
    square = RankRLSCV([0.1, 10.0], None, RankRLS(kernel="precomputed", basis=R), cv=3).fit(K, Y, groups=GROUPS)
    columns = RankRLSCV([0.1, 10.0], None, RankRLS(kernel="precomputed", basis=R), cv=3).fit(K[:, R], Y, groups=GROUPS)
    assert_allclose(square.scores_, by_features.scores_)
    assert_allclose(columns.scores_, by_features.scores_)
    full = RankRLSCV([0.1, 10.0], None, RankRLS(kernel="precomputed"), cv=3).fit(K, Y, groups=GROUPS)
    reference = RankRLSCV([0.1, 10.0], None, RankRLS(kernel="rbf", gamma=0.3), cv=3).fit(X, Y, groups=GROUPS)
    assert_allclose(full.scores_, reference.scores_)
    left_out = [
        RankRLSCV([0.1, 10.0], None, RankRLS(kernel="precomputed", basis=R)).fit(values, Y, groups=GROUPS).scores_
        for values in (K, K[:, R])
    ]
    assert_allclose(*left_out)
    drawn = RankRLSCV([1.0], None, RankRLS(kernel="rbf", n_basis=55, random_state=0), cv=3).fit(X, Y, groups=GROUPS)
    assert drawn.best_score_ > 0.6


def test_cross_validation_without_groups():
    model = RankRLSCV([0.1, 10.0]).fit(X, Y, groups=None)
    truth, scores, within = [], [], []
    for fold, (train, test) in enumerate(KFold(5).split(X)):
        truth.extend(Y[test])
        scores.extend(RankRLS(0.1).fit(X[train], Y[train], groups=None).predict(X[test]))
        within.extend([fold] * len(test))
    assert_allclose(model.scores_[0, 0], 1 - group_disagreement(truth, scores, within))
    with pytest.raises(ValueError, match="needs groups"):
        RankRLSCV(cv="leave-one-group-out").fit(X, Y, groups=None)
    with pytest.raises(ValueError, match="two groups or more"):
        RankRLSCV().fit(X, Y, groups=np.zeros(M))
    with pytest.raises(ValueError, match="pass the penalties as alphas"):
        RankRLSCV(param_grid={"alpha": [1.0]}).fit(X, Y, groups=GROUPS)


def test_metadata_routing():
    grid = {"gamma": [0.1, 1.0], "alpha": [0.01, 1.0]}
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = RankRLS(kernel="rbf").set_fit_request(groups=True).set_score_request(groups=True)
        search = GridSearchCV(ranker, grid, cv=LeaveOneGroupOut(), error_score="raise").fit(X, Y, groups=GROUPS)
        pipeline = make_pipeline(StandardScaler(), ranker)
        search_all = GridSearchCV(pipeline, {"rankrls__alpha": [0.1]}, cv=GroupKFold(3), error_score="raise")
        search_all.fit(X, Y, groups=GROUPS)
        nested = RankRLSCV([0.1, 1.0]).set_fit_request(groups=True).set_score_request(groups=True)
        inner = GridSearchCV(nested, {"cv": [None, 3]}, cv=GroupKFold(3), error_score="raise").fit(X, Y, groups=GROUPS)
    closed = RankRLSCV([0.01, 1.0], {"gamma": [0.1, 1.0]}, RankRLS(kernel="rbf")).fit(X, Y, groups=GROUPS)
    for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        i, k = [0.1, 1.0].index(params["gamma"]), [0.01, 1.0].index(params["alpha"])
        assert_allclose(score, closed.scores_[i, k], atol=1e-12)
    assert search_all.best_score_ > 0.7
    assert inner.best_score_ > 0.7


@pytest.mark.filterwarnings("ignore:alpha=.* is below the rounding error:UserWarning")
def test_tiny_penalties_are_scored_as_refits_score_them():
    rng = np.random.default_rng(1)
    groups, wide, noise = np.repeat(np.arange(12), 5), rng.normal(size=(M, 100)) * 1e6, rng.normal(size=M)
    model = RankRLSCV([1e-3, 1.0]).fit(wide, noise, groups=groups)
    by_folds = RankRLSCV([1e-3, 1.0], cv=LeaveOneGroupOut()).fit(wide, noise, groups=groups)
    assert_allclose(model.scores_, by_folds.scores_, atol=1e-12)


def test_penalties_below_the_accuracy_are_named_and_never_chosen():
    rng = np.random.default_rng(0)
    groups, wide, noise = np.repeat(np.arange(12), 5), rng.normal(size=(M, 50)) * 1e6, rng.normal(size=M)
    with pytest.warns(UserWarning, match=r"alphas 0\.001, 1 are too small for the accuracy of leaving out one group"):
        model = RankRLSCV([1e-3, 1.0, 1e9]).fit(wide, noise, groups=groups)
    assert_array_equal(np.isnan(model.scores_), [[True, True, False]])
    assert model.alpha_ == 1e9
    with (
        pytest.warns(UserWarning, match="too small"),
        pytest.raises(ValueError, match="all alphas, up to 1, are below 1e-10"),
    ):
        RankRLSCV([1e-3, 1.0]).fit(wide, noise, groups=groups)


def test_a_fold_whose_items_are_all_in_the_basis():
    groups, basis = np.repeat([0, 1], 5), np.array([4, 2, 0, 1, 3, 9])
    splits = [(np.arange(5), np.arange(5, 10))]
    few, scores = K[:10, :10], Y[:10]
    columns = RankRLSCV([0.1], None, RankRLS(kernel="precomputed", basis=basis), cv=splits)
    square = RankRLSCV([0.1], None, RankRLS(kernel="precomputed", basis=basis), cv=splits)
    a, b = columns.fit(few[:, basis], scores, groups=groups), square.fit(few, scores, groups=groups)
    assert_allclose(a.scores_, b.scores_)


@pytest.mark.parametrize("cv", [4, LeaveOneGroupOut(), GroupKFold(3)], ids=str)
def test_folds_of_groups_with_any_names(cv):
    names = [("sentence", int(g)) for g in GROUPS]
    ours = RankRLSCV([0.1, 10.0], cv=cv).fit(X, Y, groups=names)
    assert_allclose(ours.scores_, RankRLSCV([0.1, 10.0], cv=cv).fit(X, Y, groups=group_codes(names, M)).scores_)


def test_splits_that_are_an_iterator_or_masks():
    grid, estimator = {"gamma": [0.1, 1.0]}, RankRLS(kernel="rbf")
    splits = list(GroupKFold(3).split(X, Y, GROUPS))
    expected = RankRLSCV([0.1, 10.0], grid, estimator, cv=splits).fit(X, Y, groups=GROUPS).scores_
    once = RankRLSCV([0.1, 10.0], grid, estimator, cv=iter(splits))
    assert_allclose(once.fit(X, Y, groups=GROUPS).scores_, expected)
    with pytest.raises(ValueError, match="an iterator can be used only once"):
        once.fit(X, Y, groups=GROUPS)
    masks = [(np.isin(np.arange(M), train), np.isin(np.arange(M), test)) for train, test in splits]
    assert_allclose(RankRLSCV([0.1, 10.0], grid, estimator, cv=masks).fit(X, Y, groups=GROUPS).scores_, expected)
    with pytest.raises(IndexError, match="boolean index"):
        RankRLSCV(cv=[(masks[0][0][:-1], masks[0][1])]).fit(X, Y, groups=GROUPS)


def test_folds_that_have_nothing():
    splits = list(GroupKFold(3).split(X, Y, GROUPS))
    weight = np.ones(M)
    weight[splits[1][1]] = 0
    ours = RankRLSCV([0.1, 10.0], cv=splits).fit(X, Y, weight, groups=GROUPS)
    others = RankRLSCV([0.1, 10.0], cv=[splits[0], splits[2]]).fit(X, Y, weight, groups=GROUPS)
    assert_allclose(ours.scores_, others.scores_)
    with pytest.raises(ValueError, match="fold 0 of cv has no training items with weight"):
        RankRLSCV(cv=[(splits[1][1], splits[0][1])]).fit(X, Y, weight, groups=GROUPS)
    with pytest.raises(ValueError, match="no fold with test items that have weight"):
        RankRLSCV(cv=[splits[1]]).fit(X, Y, weight, groups=GROUPS)
    with pytest.raises(ValueError, match="no group has two items with weight"):
        RankRLSCV().fit(X, Y, groups=np.arange(M))
    with pytest.raises(ValueError, match="no test fold has two items of the same group"):
        RankRLSCV(cv=3).fit(X, Y, groups=np.arange(M))
    with pytest.raises(ValueError, match=r"none of the 2 rows of basis is among the .* training items of a fold"):
        RankRLSCV([1.0], None, RankRLS(basis=splits[0][1][:2]), cv=[splits[0]]).fit(X, Y, groups=GROUPS)


# --- What is left out


def refit_without(model, alpha, rows, weight=None, groups=GROUPS):
    weight = np.ones(M) if weight is None else weight.copy()
    weight[rows] = 0
    return clone(model).set_params(alpha=alpha).fit(K if model.kernel == "precomputed" else X, Y, weight, groups=groups)


LEFT_OUT = {
    "primal": RankRLS(),
    "dual": RankRLS(kernel="rbf", gamma=0.3),
    "basis": RankRLS(kernel="rbf", gamma=0.3, basis=R),
    "precomputed": RankRLS(kernel="precomputed", weighting="groups"),
    "by groups": RankRLS(kernel="poly", gamma=0.2, weighting="groups"),
    "primal by groups": RankRLS(weighting="groups"),
}
every_route = pytest.mark.parametrize("estimator", LEFT_OUT.values(), ids=LEFT_OUT)


@every_route
def test_scores_of_groups_that_were_left_out(estimator):
    data = K if estimator.kernel == "precomputed" else X
    model = RankRLSCV([0.1], None, estimator).fit(data, Y, WEIGHT, groups=GROUPS)
    for group in np.unique(GROUPS):
        rows = np.flatnonzero(group == GROUPS)
        expected = refit_without(estimator, 0.1, rows, WEIGHT).predict(data)[rows]
        found = model.left_out_scores_[rows]
        assert_allclose(found - found.mean(), expected - expected.mean(), atol=1e-9)
    assert not hasattr(model, "left_out_pairs_")


@every_route
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
def test_leaving_out_pairs_equals_refitting(estimator, weight):
    data = K if estimator.kernel == "precomputed" else X
    # Groups of 2, 3, 4 and 20 items, and a lone one; the others do not count.
    groups = np.repeat([4, 0, 3, 1, 2, 5], [2, 3, 4, 20, 1, M - 30])
    used = np.where(groups == 5, 0.0, 1.0 if weight is None else weight)
    alphas = [0.01, 1.0]
    model = RankRLSCV(alphas, None, estimator, cv="leave-pair-out").fit(data, Y, used, groups=groups)
    pairs = model.left_out_pairs_
    assert len(pairs) == 1 + 3 + 6 + 190
    assert (groups[pairs[:, 0]] == groups[pairs[:, 1]]).all()
    wrong = {}
    for (i, j), found in list(zip(pairs, model.left_out_differences_, strict=True))[::5]:
        scores = refit_without(estimator, model.alpha_, [i, j], used, groups).predict(data)
        assert_allclose(found, scores[i] - scores[j], rtol=1e-7, atol=1e-7)
    for (i, j), found in zip(pairs, model.left_out_differences_, strict=True):
        wrong.setdefault(groups[i], []).append(abs(np.sign(found) - np.sign(Y[i] - Y[j])) / 2)
    assert_allclose(model.best_score_, 1 - np.mean([np.mean(shares) for shares in wrong.values()]))
    assert_allclose(model.best_score_, model.scores_[0, alphas.index(model.alpha_)])
    assert not hasattr(model, "left_out_scores_")


def test_pairs_of_a_single_list():
    model = RankRLSCV([0.1, 1.0], cv="leave-pair-out").fit(X[:15], Y[:15], groups=None)
    assert model.left_out_pairs_.shape == (105, 2)
    for (i, j), found in list(zip(model.left_out_pairs_, model.left_out_differences_, strict=True))[::9]:
        rest = np.delete(np.arange(15), [i, j])
        scores = RankRLS(model.alpha_).fit(X[rest], Y[rest], groups=None).predict(X[:15])
        assert_allclose(found, scores[i] - scores[j], atol=1e-9)
    with pytest.raises(ValueError, match="no group has two items with weight"):
        RankRLSCV(cv="leave-pair-out").fit(X, Y, groups=np.arange(M))


def test_extreme_weights_of_pairs():
    """The factor of the pairs that are left over is a sum without cancellation."""
    groups, weight = np.repeat([0, 1], 6), np.array([1e12, 1, 1, 1e-6, 1, 1, 1, 1, 1e9, 1, 1, 1])
    model = RankRLSCV([1.0], None, RankRLS(kernel="rbf", gamma=0.3, weighting="groups"), cv="leave-pair-out")
    model.fit(X[:12], Y[:12], weight, groups=groups)
    for (i, j), found in zip(model.left_out_pairs_, model.left_out_differences_, strict=True):
        left = weight.copy()
        left[[i, j]] = 0
        scores = RankRLS(kernel="rbf", gamma=0.3, weighting="groups").fit(X[:12], Y[:12], left, groups=groups)
        scores = scores.predict(X[:12])
        assert_allclose(found, scores[i] - scores[j], rtol=1e-4, atol=1e-6)


def test_scores_of_folds_that_were_left_out():
    splits = [*GroupKFold(3).split(X, Y, GROUPS), *GroupKFold(2).split(X, Y, GROUPS)]
    model = RankRLSCV([0.1], cv=splits[:2]).fit(X, Y, groups=GROUPS)
    for train, test in splits[:2]:
        expected = RankRLS(0.1).fit(X[train], Y[train], groups=GROUPS[train]).predict(X[test])
        assert_allclose(model.left_out_scores_[test], expected)
    assert np.isnan(model.left_out_scores_[splits[2][1]]).all()
    twice = RankRLSCV([0.1], cv=splits).fit(X, Y, groups=GROUPS)
    expected = [
        RankRLS(0.1).fit(X[train], Y[train], groups=GROUPS[train]).predict(X)[0] for train, test in splits if 0 in test
    ]
    assert_allclose(twice.left_out_scores_[0], np.mean(expected))


# --- Names of groups, and groups that are not there


@pytest.mark.parametrize("cv", [None, 4, "leave-pair-out"], ids=str)
def test_a_list_of_names_gives_the_folds_of_an_array(cv):
    for names in ([f"s{g}" for g in GROUPS], [10 - int(g) for g in GROUPS], [bool(g % 2) for g in GROUPS]):
        forms = (names, np.array(names), pd.Series(names), pl.Series(names), np.array(names, dtype=object))
        models = [RankRLSCV([0.1, 10.0], cv=2 if cv == 4 else cv).fit(X, Y, groups=form) for form in forms]
        for model in models[1:]:
            assert_array_equal(model.scores_, models[0].scores_)
            assert_array_equal(model.alpha_, models[0].alpha_)


RECIPE = r"was called without groups.*groups=None.*set_fit_request\(groups=True\)\.set_score_request\(groups=True\)"


@pytest.mark.parametrize("model", [RankRLS(), RankRLSCV()], ids=lambda model: type(model).__name__)
def test_a_fit_without_groups_warns(model):
    model = clone(model)
    with pytest.warns(UserWarning, match=rf"{type(model).__name__}\.fit {RECIPE}") as caught:
        model.fit(X, Y)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = clone(model).fit(X, Y, groups=None)
        assert_array_equal(model.predict(X), one.predict(X))
        assert one.n_groups_ == 1
        assert one.score(X, Y) == one.score(X, Y, groups=None)
        many = clone(model).fit(X, Y, groups=GROUPS)
        assert many.n_groups_ == 9
        many.score(X, Y, groups=GROUPS)
        many.score(X, Y, groups=None)
    with pytest.warns(UserWarning, match=rf"{type(model).__name__}\.score {RECIPE}"):
        many.score(X, Y)


def test_cross_val_score_warns_and_its_recipe_works():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(10), 12)
    items = rng.uniform(-2, 2, size=(120, 1)) + np.linspace(-3, 3, 10)[groups, None]
    scores = np.sin(items[:, 0]) + 5 * rng.normal(size=10)[groups]
    ranker = RankRLS(0.1, kernel="rbf")
    with pytest.warns(UserWarning, match=RECIPE):
        blind = cross_val_score(ranker, items, scores, groups=groups, cv=LeaveOneGroupOut()).mean()
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker = RankRLS(0.1, kernel="rbf").set_fit_request(groups=True).set_score_request(groups=True)
        routed = cross_val_score(ranker, items, scores, params={"groups": groups}, cv=LeaveOneGroupOut()).mean()
    assert routed > blind + 0.1
