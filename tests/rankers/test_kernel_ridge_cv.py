"""KernelRidgeRankerCV: the closed form of leave-one-out is a loop of fits, and the best candidate is chosen."""

import numpy as np
import pytest
from callbacks import Steps
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from labelrank import KernelRidgeRanker, KernelRidgeRankerCV, PreferenceGraphs, mask_rankings, ranks_from_scores
from labelrank.metrics import kendall_tau
from labelrank.rankers.kernel_ridge_cv import left_out_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3))
Y = ranks_from_scores(np.sin(2 * X @ RNG.normal(size=(3, 4))) + 0.3 * RNG.normal(size=(20, 4)))
ALPHAS, GAMMAS = [0.01, 0.3, 10.0], [0.05, 0.5, 5.0]


def one_by_one(alpha, gamma, X, y, weight):
    """Scores of every row by a fit without one unit of its weight."""
    found = np.empty(y.shape)
    for i in range(len(X)):
        rest = weight.copy()
        rest[i] -= min(rest[i], 1.0)
        model = KernelRidgeRanker(alpha, kernel="rbf", gamma=gamma, on_empty="ignore").fit(X, y, rest)
        found[i] = model.decision_function(X[i : i + 1])[0]
    return found


@pytest.mark.parametrize("weight", [np.ones(20), RNG.integers(1, 4, 20).astype(float), RNG.uniform(0.1, 2.5, 20)])
def test_the_closed_form_is_a_loop_of_fits(weight):
    centered = 2.5 - Y
    for gamma in GAMMAS:
        gram = rbf_kernel(X, gamma=gamma) + 1
        for alpha, scores in zip(ALPHAS, left_out_scores(gram, centered, weight, np.array(ALPHAS)), strict=True):
            assert_allclose(scores, one_by_one(alpha, gamma, X, Y, weight), atol=1e-8)


def test_the_candidate_with_the_largest_tau_is_chosen_and_fitted():
    ranker = KernelRidgeRankerCV(ALPHAS, gammas=GAMMAS).fit(X, Y)
    taus = [
        [kendall_tau(Y, ranks_from_scores(one_by_one(alpha, gamma, X, Y, np.ones(20)))) for alpha in ALPHAS]
        for gamma in GAMMAS
    ]
    assert_allclose(ranker.cv_scores_, taus)
    best = [
        (-gamma, alpha)
        for i, gamma in enumerate(GAMMAS)
        for j, alpha in enumerate(ALPHAS)
        if taus[i][j] > np.max(taus) - 1e-9
    ]  # of equal ones the smallest gamma, then the largest alpha
    assert (-ranker.gamma_, ranker.alpha_) == max(best)
    assert ranker.best_score_ == pytest.approx(np.max(taus))
    plain = KernelRidgeRanker(ranker.alpha_, kernel="rbf", gamma=ranker.gamma_).fit(X, Y)
    assert_allclose(ranker.decision_function(X), plain.decision_function(X))


def test_of_equal_scores_the_smoothest_model_is_chosen():
    ranker = KernelRidgeRankerCV(ALPHAS, gammas=GAMMAS).fit(X, np.tile([1, 2, 3], (20, 1)))
    assert (ranker.cv_scores_ == 1).all()
    assert (ranker.gamma_, ranker.alpha_) == (min(GAMMAS), max(ALPHAS))


def test_default_candidates_do_not_depend_on_the_unit_of_the_features():
    a, b = KernelRidgeRankerCV().fit(X, Y), KernelRidgeRankerCV().fit(1000 * X, Y)
    assert_allclose(a.cv_scores_, b.cv_scores_)
    assert_allclose(a.gamma_, 1e6 * b.gamma_)
    assert a.cv_scores_.shape == (7, 13)


@pytest.mark.parametrize("supervision", ["missing", "edges"])
def test_incomplete_supervision_gets_the_minimum_of_its_own_loss(supervision):
    y = mask_rankings(Y, 0.3, random_state=0)
    if supervision == "edges":
        edges = PreferenceGraphs.from_rankings(y).to_edges()
        y = PreferenceGraphs.from_pairs(edges.instance, edges.better, edges.worse, n_instances=len(X), n_labels=4)
    ranker = KernelRidgeRankerCV(on_empty="ignore").fit(X, y)
    plain = KernelRidgeRanker(ranker.alpha_, kernel="rbf", gamma=ranker.gamma_, on_empty="ignore").fit(X, y)
    assert_allclose(ranker.decision_function(X), plain.decision_function(X), atol=1e-6)
    assert ranker.score(X, Y) > 0.2


def test_many_rows_choose_the_width_on_some_and_the_penalty_on_all():
    some = KernelRidgeRankerCV(ALPHAS, gammas=GAMMAS, max_samples=15, random_state=0).fit(X, Y)
    fixed = KernelRidgeRankerCV(ALPHAS, gammas=[some.gamma_]).fit(X, Y)
    assert (some.alpha_, some.best_score_) == (fixed.alpha_, fixed.best_score_)
    again = KernelRidgeRankerCV(ALPHAS, gammas=GAMMAS, max_samples=15, random_state=0).fit(X, Y)
    assert_allclose(some.cv_scores_, again.cv_scores_)


@pytest.mark.parametrize("kernel", ["linear", "poly", "precomputed"])
def test_other_kernels(kernel):
    Z = X @ X.T if kernel == "precomputed" else X
    ranker = KernelRidgeRankerCV(ALPHAS, kernel=kernel, max_samples=15, random_state=0).fit(Z, Y)
    assert ranker.predict(Z).shape == Y.shape
    assert ranker.cv_scores_.shape == (7 if kernel == "poly" else 1, 3)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alphas": [0.0]}, "alphas must be one or more finite numbers > 0"),
        ({"alphas": ["a"]}, r"alphas must be one or more finite numbers > 0, got \['a'\]"),
        ({"gammas": [-1.0]}, "gammas must be one or more finite numbers ≥ 0"),
        ({"gammas": ["a"]}, r"gammas must be one or more finite numbers ≥ 0, got \['a'\]"),
        ({"gammas": [1.0], "kernel": "linear"}, "the kernel 'linear' has no gamma"),
    ],
)
def test_bad_candidates_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        KernelRidgeRankerCV(**params).fit(X, Y)


def test_callbacks_see_the_widths():
    steps = Steps(stop_after=2)
    ranker = KernelRidgeRankerCV(ALPHAS, gammas=GAMMAS).set_callbacks(steps).fit(X, Y)
    assert ranker.cv_scores_.shape == (2, 3)
