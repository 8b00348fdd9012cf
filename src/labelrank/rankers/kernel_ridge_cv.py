"""Kernel ridge regression on ranks, with the penalty and the width of the kernel chosen by leave-one-out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from labelrank._arrays import FloatArray, IntArray
from labelrank._compat import Interval
from labelrank.models.gram import Kernel
from labelrank.rankers.base import BaseRanker, OnEmpty, Progress, Training
from labelrank.rankers.items import check_candidates
from labelrank.rankers.kernel_ridge import KernelRidgeRanker
from labelrank.solvers.least_squares.ridge import decompose, shrink
from labelrank.supervision import PreferenceGraphs, ranks_from_scores

_ROUNDING = 1e-10  # scores that differ by less are equal, and the smoother model is chosen
_WIDTHS = 4.0 ** np.arange(-4, 3)  # default gammas, relative to gamma="scale"


class KernelRidgeRankerCV(KernelRidgeRanker):
    r"""Kernel ridge regression on ranks, with `alpha` and `gamma` chosen by leave-one-out in closed form.

    The model is that of :class:`KernelRidgeRanker`. With the eigenvectors of the kernel matrix K of all instances,
    the scores of every instance by the model without it follow for all penalties at once:

    .. math:: f^{(-i)}(x_i) = t_i - \frac{z_i}{\bigl[(K + \alpha I)^{-1}\bigr]_{ii}}, \qquad
              z = (K + \alpha I)^{-1} t ,

    with the centered votes t. The penalty and the width with the largest mean Kendall tau of these scores are chosen,
    and the model is fitted to all instances with them.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=None
        Penalties to choose from; by default 13 from 1e-4 to 100.
    gammas : array-like of shape (n_gammas,), default=None
        Coefficients of the kernel to choose from, for the kernels that have one. By default 1/256, 1/64, ..., 16 times
        ``1 / (n_features * X.var())``.
    kernel : {"rbf", "poly", "sigmoid", "linear", "precomputed"} or callable, default="rbf"
        Kernel of the instances, as in :class:`KernelRidgeRanker`.
    degree, coef0, kernel_params, fit_intercept, tol, max_iter, on_empty
        As in :class:`KernelRidgeRanker`.
    max_samples : int, default=1000
        If there are more instances, widths are compared on so many of them, drawn at random, and the penalty is chosen
        on all instances, for the best width.
    random_state : int, RandomState instance or None, default=None
        Determines the instances that are drawn.

    Attributes
    ----------
    alpha_, gamma_ : float
        The chosen penalty and coefficient of the kernel.
    best_score_ : float
        Mean Kendall tau of the left-out scores with them.
    alphas_, gammas_ : ndarray
        The candidates. Without a coefficient, `gammas_` is a single NaN.
    cv_scores_ : ndarray of shape (n_gammas, n_alphas)
        Mean Kendall tau for each candidate, on the instances on which widths are compared.
    coef_, intercept_, dual_coef_, X_fit_, loss_curve_, n_iter_, gap_, labels_, n_features_in_
        As in :class:`KernelRidgeRanker`.

    Notes
    -----
    A row with sample weight w is w rows, of which one at a time is left out.

    Where labels are missing, or edges are observed, there is no closed form. The choice is then made with the votes of
    the observed pairs as targets and the mean vote for labels that are not compared; scores are those of the observed
    pairs, and the final model is the minimum of the loss of :class:`KernelRidgeRanker`.

    Of equal scores, the smaller coefficient is chosen, then the larger penalty. If ``fit`` is interrupted, the best of
    the widths tried so far is taken.

    Examples
    --------
    >>> from labelrank import KernelRidgeRankerCV
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> ranker = KernelRidgeRankerCV().fit(X, y)
    >>> print(f"alpha {ranker.alpha_:.3g}, gamma {ranker.gamma_:.3g}, tau {ranker.best_score_:.2f}")
    alpha 0.0001, gamma 0.000251, tau 0.99
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: KernelRidgeRanker._parameter_constraints[name]
            for name in ("kernel", "degree", "coef0", "kernel_params", "fit_intercept", "tol", "max_iter")
        },
        **BaseRanker._parameter_constraints,
        "alphas": ["array-like", None],
        "gammas": ["array-like", None],
        "max_samples": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    # Parameters of the base class that this one does not have.
    gamma = "scale"
    label_features = None
    label_kernel = "linear"
    label_kernel_params = None

    def __init__(
        self,
        alphas: npt.ArrayLike | None = None,
        *,
        gammas: npt.ArrayLike | None = None,
        kernel: str | Callable[..., Any] = "rbf",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Mapping[str, Any] | None = None,
        fit_intercept: bool = True,
        max_samples: int = 1000,
        tol: float = 1e-10,
        max_iter: int = 1000,
        random_state: Any = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.alphas = alphas
        self.gammas = gammas
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.max_samples = max_samples
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.on_empty = on_empty

    def _learn(self, data: Training, progress: Progress) -> None:
        kernel = Kernel.of(self).fitted(data.X, data.weight)
        alphas = np.logspace(-4, 2, 13) if self.alphas is None else check_candidates(self.alphas, "alphas")
        self.alphas_ = np.unique(alphas)
        self.gammas_ = self._gammas(kernel)
        rows = np.flatnonzero(data.weight > 0)
        drawn = rows
        if len(rows) > self.max_samples:
            drawn = np.sort(check_random_state(self.random_state).choice(rows, self.max_samples, replace=False))
        kernels = [replace(kernel, gamma=gamma) for gamma in self.gammas_.tolist()] if kernel.has_gamma else [kernel]
        found = progress.collect("width", self._scores(data, drawn, kernels), len(kernels))
        self.cv_scores_ = np.array(found)
        self.gammas_ = self.gammas_[: len(found)]
        best = int(np.argmax(self.cv_scores_.max(axis=1) >= self.cv_scores_.max() - _ROUNDING))
        scores = self.cv_scores_[best]
        if len(drawn) < len(rows) and len(self.alphas_) > 1:
            scores = next(self._scores(data, rows, [kernels[best]]))
        top = scores.max()
        self.alpha_ = float(self.alphas_[np.flatnonzero(scores >= top - _ROUNDING)[-1]])
        self.best_score_ = float(top)
        self._solve(data, kernels[best], self.alpha_)

    def _gammas(self, kernel: Kernel) -> FloatArray:
        if not kernel.has_gamma:
            if self.gammas is not None:
                raise ValueError(f"gammas are given, but the kernel {self.kernel!r} has no gamma; leave them out")
            return np.array([np.nan])
        if self.gammas is None:
            return np.asarray(float(kernel.gamma) * _WIDTHS)
        return np.unique(check_candidates(self.gammas, "gammas", zero=True))

    def _scores(self, data: Training, rows: IntArray, kernels: list[Kernel]) -> Iterator[FloatArray]:
        """Mean tau of the left-out scores for each penalty, kernel by kernel."""
        X, graphs, weight = data.X[rows], data.graphs[rows], data.weight[rows]
        target = graphs.votes() - (graphs.shape[1] + 1) / 2  # a label that is not compared has the mean vote, 0
        for kernel in kernels:
            gram = kernel.gram(X[:, rows] if kernel.is_precomputed else X)
            gram += float(self.fit_intercept)
            taus = [_mean_tau(graphs, f, weight) for f in left_out_scores(gram, target, weight, self.alphas_)]
            yield np.array(taus)


def left_out_scores(
    gram: FloatArray, target: FloatArray, weight: FloatArray, alphas: FloatArray
) -> Iterator[FloatArray]:
    r"""Scores of every row by the kernel ridge regression without it, for each penalty; the kernel is overwritten.

    A row of weight w is w rows, of which one is left out: with the share h of a row in its own fitted score, the
    residual of the left-out row is that of the fit divided by 1 - h min(w, 1) / w.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples)
        Kernel matrix.
    target : ndarray of shape (n_samples, n_labels)
        Values that are regressed on.
    weight : ndarray of shape (n_samples,)
        Positive weights.
    alphas : ndarray of shape (n_alphas,)
        Penalties.

    Yields
    ------
    ndarray of shape (n_samples, n_labels)

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.rankers.kernel_ridge_cv import left_out_scores
    >>> gram, target = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[2.0], [4.0]])
    >>> next(left_out_scores(gram, target, np.ones(2), np.array([1.0])))  # the other target, times 0.5 / (1 + 1)
    array([[1. ],
           [0.5]])
    """
    root = np.sqrt(weight)[:, np.newaxis]
    gram *= root
    gram *= root.T
    values, V = decompose(gram)
    shrunk = shrink(values, alphas)
    inverse = np.square(V) @ shrunk  # diagonals of the inverses, a column for each penalty
    right = V.T @ (root * target)
    share = (np.minimum(weight, 1.0) / weight)[:, np.newaxis]
    for k, alpha in enumerate(alphas):
        residual = alpha * (V @ (shrunk[:, [k]] * right)) / root
        yield target - residual / (1.0 - share + share * alpha * inverse[:, [k]])


def _mean_tau(graphs: PreferenceGraphs, scores: FloatArray, weight: FloatArray) -> float:
    balance, total = graphs.concordance(ranks_from_scores(scores))
    tau = np.divide(balance, total, out=np.zeros_like(total), where=total > 0)
    counted = float(weight[total > 0].sum())
    return float(weight @ tau) / counted if counted > 0 else 0.0
