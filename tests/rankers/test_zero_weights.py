"""Rows of weight 0 do not matter, whatever they hold; the rankers are checked by labelrank.testing as well."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from labelrank import (
    CalibratedRanker,
    KernelRidgeRanker,
    LabelCoveringClassifier,
    LogLinearRanker,
    PreferenceGraphs,
    RankRLS,
    RankRLSCV,
    SoftProjectionRanker,
)
from labelrank.rankers.items import ItemRanker
from labelrank.testing.problems import features, rankings

X, RANKS = features() / 4, rankings()
GROUPS = np.repeat(np.arange(12), 5)
TEMPLATES = np.array([[0.3, 0.3, 0.3, 0.1], [0.1, 0.1, 0.1, 0.1]])

LEARNERS = [
    LabelCoveringClassifier(),
    LabelCoveringClassifier("two_sets", solver="boosting", max_iter=20),
    LabelCoveringClassifier(solver="boosting", templates="sequential", alpha=0, max_iter=20),
    LabelCoveringClassifier("two_sets", solver="boosting", templates="sequential", alpha=0, max_iter=20),
    LabelCoveringClassifier(solver="boosting", templates=TEMPLATES, max_iter=20),
    CalibratedRanker(max_iter=5),
    LogLinearRanker(solver="boosting", max_iter=5),
    KernelRidgeRanker(kernel="rbf"),
    SoftProjectionRanker(kernel="rbf", tol=1e-9, random_state=0),
    RankRLS(),
    RankRLS(kernel="rbf"),
    RankRLS(kernel="rbf", n_basis=20, random_state=0),
    RankRLSCV([0.1, 10.0], None, RankRLS(kernel="rbf")),
    RankRLSCV([0.1, 10.0], None, RankRLS(kernel="rbf", n_basis=50, random_state=0), cv=3),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:alpha=")
@pytest.mark.parametrize(("scale", "form"), [(1e3, sparse.csr_array), (1e140, np.asarray)], ids=["sparse", "dense"])
@pytest.mark.parametrize("model", LEARNERS, ids=str)
def test_rows_of_weight_zero_do_not_matter(model, scale, form):
    rows = np.r_[np.arange(60), [9, 4, 5, 3, 50, 51, 22]]
    extreme = np.vstack([X, scale * X[rows[60:]]])
    weight = np.where(np.arange(67) < 60, 1.0, 0.0)
    if isinstance(model, ItemRanker):
        y, kwargs = X @ [2.0, -1.0, 1.0], {"groups": GROUPS}
    else:
        y, kwargs = PreferenceGraphs.from_rankings(RANKS), {}
        if not isinstance(model, (LogLinearRanker, KernelRidgeRanker, SoftProjectionRanker)) or isinstance(
            model, CalibratedRanker
        ):
            y = PreferenceGraphs.from_multilabel(RANKS <= 2)
    alone = clone(model).fit(form(X), y, **kwargs)
    more = clone(model).fit(form(extreme), y[rows], weight, **{name: kwargs[name][rows] for name in kwargs})
    method = "decision_function" if hasattr(model, "decision_function") else "predict"
    np.testing.assert_allclose(getattr(more, method)(X), getattr(alone, method)(X), rtol=1e-6, atol=1e-8)


def test_a_variance_that_overflows_is_refused():
    with pytest.raises(ValueError, match='its variance, for gamma="scale", overflows; scale the features'):
        KernelRidgeRanker(kernel="rbf").fit(X * 1e200, RANKS)


def test_a_basis_is_drawn_from_rows_with_a_weight():
    weight = np.r_[np.zeros(50), np.ones(10)]
    model = RankRLS(kernel="rbf", n_basis=8, random_state=0).fit(X, X[:, 0], weight, groups=GROUPS)
    assert (model.basis_indices_ >= 50).all()
    with pytest.raises(ValueError, match="n_basis=11 is more than the 10 rows of X with positive weight"):
        RankRLS(kernel="rbf", n_basis=11).fit(X, X[:, 0], weight, groups=GROUPS)


def test_distances_beside_a_row_far_away():
    """The origin of the Gaussian kernel is not moved by a single row, which would make all others equal."""
    far = np.vstack([X, np.full((1, 3), 1e120)])
    model = KernelRidgeRanker(kernel="rbf", gamma=1.0).fit(far, np.vstack([RANKS, RANKS[:1]]))
    near = KernelRidgeRanker(kernel="rbf", gamma=1.0).fit(X, RANKS)
    assert np.ptp(model.decision_function(X), axis=0).min() > 0.9 * np.ptp(near.decision_function(X), axis=0).min() > 0
