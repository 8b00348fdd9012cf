"""The four learners, with the choice of kernel and penalty."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh, solve_triangular
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from labelrank import RankRLS, RankRLSCV
from labelrank.metrics import group_disagreement
from labelrank.solvers.least_squares.basis import basis_factor
from papers.tsivtsivadze2008.data import FloatArray, IntArray

METHODS = {
    "rls": "RLS regressor",
    "sparse_rls": "sparse RLS regressor",
    "rank_rls": "RankRLS",
    "sparse_rank_rls": "sparse RankRLS",
}


class RLSRegressor:
    r"""Regularized least squares on the scores themselves, for many penalties at once; subset of regressors.

    .. math:: A = (K_{RM} K_{MR} + \alpha K_{RR})^{-1} K_{RM} (y - \bar y)

    for the basis R; with all items as the basis this is :math:`(K + \alpha I)^{-1} (y - \bar y)`, kernel ridge
    regression. It is sparse RankRLS without the pairs, so the two differ in the loss only. The mean of the
    scores is subtracted, so that the kernel need not explain it.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.tsivtsivadze2008.learners import RLSRegressor
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = RLSRegressor({"kernel": "linear"}).fit(X, X[:, 0] * 2, np.arange(4))
    >>> model.scores(X, [1e-9]).round(3)[:, 0] + 0.0  # 0.7 X + 3: a line without intercept for the centered scores
    array([3.   , 3.714, 4.429, 5.143])
    """

    def __init__(self, kernel: Mapping[str, Any]) -> None:
        self.kernel = kernel

    def fit(self, X: Any, y: FloatArray, basis: IntArray) -> RLSRegressor:
        """Decompose the kernel; `basis` lists rows of X."""
        self.basis_ = X[basis]
        self.mean_ = float(y.mean())
        # K_RR = C Cᵀ; the items are Φ = K_MR C^-ᵀ, as in sparse RankRLS.
        with _no_warning_of_dependent_vectors():
            factor, kept = basis_factor(self._values(self.basis_))
        phi = solve_triangular(factor, self._values(X)[:, kept].T, lower=True).T
        self.basis_ = self.basis_[kept]
        self.eigenvalues_, rotation = eigh(phi.T @ phi)
        self.directions_ = solve_triangular(factor, rotation, lower=True, trans="T")
        self.projections_ = rotation.T @ (phi.T @ (y - self.mean_))
        return self

    def scores(self, X: Any, alphas: Any) -> FloatArray:
        """Return the scores of items, a column for each penalty."""
        shrunk = self.projections_[:, np.newaxis] / (self.eigenvalues_[:, np.newaxis] + np.asarray(alphas))
        return np.asarray(self._values(X) @ (self.directions_ @ shrunk) + self.mean_)

    def _values(self, X: Any) -> FloatArray:
        if self.kernel["kernel"] == "linear":
            return np.asarray(linear_kernel(X, self.basis_))
        return np.asarray(rbf_kernel(X, self.basis_, gamma=self.kernel["gamma"]))


@dataclass(frozen=True)
class Choice:
    """A kernel and a penalty, their error in the cross-validation, and the scores of the model trained with them."""

    kernel: Mapping[str, Any]
    alpha: float
    error: float
    scores: Callable[[Any], FloatArray]


class Training(NamedTuple):
    """Scored items in groups to train on, those of the basis, the folds of the cross-validation, and the penalties."""

    y: FloatArray
    groups: IntArray
    basis: IntArray
    folds: Sequence[tuple[IntArray, IntArray]]
    alphas: FloatArray


def choose(method: str, views: Mapping[str, Any], kernels: Sequence[Mapping[str, Any]], training: Training) -> Choice:
    """Choose by the disagreement on the folds, and train on all items; of equals the first kernel, larger penalty."""
    fit = _rank if method.endswith("rank_rls") else _regress
    return min((fit(kernel, views[kernel["view"]], training) for kernel in kernels), key=lambda choice: choice.error)


def _rank(kernel: Mapping[str, Any], X: Any, training: Training) -> Choice:
    sparse: dict[str, Any] = {} if len(training.basis) == len(training.y) else {"basis": training.basis}
    ranker = RankRLS(kernel=kernel["kernel"], gamma=kernel.get("gamma", "scale"), **sparse)
    search = RankRLSCV(training.alphas, estimator=ranker, cv=list(training.folds))
    with _no_warning_of_dependent_vectors():
        search.fit(X, training.y, groups=training.groups)
    return Choice(kernel, search.alpha_, 1 - search.best_score_, search.predict)


def _regress(kernel: Mapping[str, Any], X: Any, training: Training) -> Choice:
    y, groups, basis, folds, alphas = training
    scores = np.empty((len(y), len(alphas)))
    for train, test in folds:
        inside = np.flatnonzero(np.isin(train, basis))
        scores[test] = RLSRegressor(kernel).fit(X[train], y[train], inside).scores(X[test], alphas)
    errors = np.array([group_disagreement(y, scores[:, k], groups) for k in range(len(alphas))])
    alpha = float(alphas[errors == errors.min()].max())
    model = RLSRegressor(kernel).fit(X, y, basis)
    return Choice(kernel, alpha, float(errors.min()), lambda new: model.scores(new, [alpha])[:, 0])


@contextmanager
def _no_warning_of_dependent_vectors() -> Iterator[None]:
    """There may be more basis vectors than features; those that depend on others add nothing."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*basis vectors has numerical rank", category=UserWarning)
        yield
