"""Constraint classification: a perceptron over pairwise constraints."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms

from labelrank._arrays import FloatArray
from labelrank._compat import Interval
from labelrank.pairs import pair_rows
from labelrank.rankers.base import BaseRanker, OnEmpty, Progress, Training
from labelrank.supervision import stacklevel_of_user


class ConstraintClassificationRanker(BaseRanker):
    r"""Linear scores learned by a noise-tolerant perceptron from pairwise constraints.

    The score of label l is :math:`f_l(x) = w_l \cdot x + b_l`. "a before b" for the instance x is a constraint on all
    coefficients at once, :math:`v \cdot z > 0`, where v is the vector of all :math:`w_l` and z has x in the place of
    :math:`w_a` and -x in that of :math:`w_b`. This is Kesler's construction, which turns the constraints into a binary
    classification problem. The perceptron visits the instances one by one. At each it adds the vectors of the
    constraints that are not satisfied with the margin :math:`\tau`, times their weights,

    .. math:: v \leftarrow v + \sum_{(a, b) : f_a(x) - f_b(x) \le \tau} z_{ab},

    and the result is the mean of v over all visits. No vector z is ever built.

    The margin and the averaging make it tolerant of noise: a perceptron never converges on contradictory constraints,
    but its mean does, and with a margin a constraint that is barely satisfied still counts.

    Parameters
    ----------
    margin : float, default=1.0
        How far a constraint must be satisfied not to count as violated, in units of the mean squared norm of the
        scaled instances (with the constant feature): half of what one update adds to the difference of two scores. 0 is
        the classical perceptron.
    max_iter : int, default=200
        Maximum number of passes over the instances.
    tol : float, default=2e-3
        Stop when a pass changes the direction of the mean by no more than this. ``fit`` also stops after a pass without
        a violated constraint.
    fit_intercept : bool, default=True
        Whether to add an intercept for each label, one more constant feature.
    shuffle : bool, default=True
        Whether to visit the instances in a new random order in each pass. With False they are visited in the order of
        the training set.
    random_state : int, RandomState instance or None, default=None
        Seed of the random orders. Pass an int for reproducible results.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows and labels of `y` without any observed pair, from which nothing can be learned.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Coefficients.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts.
    loss_curve_ : ndarray of shape (n_iter_,)
        The share of the constraints, by weight, that each pass found violated (not satisfied with the margin).
    n_iter_ : int
        Number of passes.
    gap_ : float
        How far the last pass changed the direction of the mean; it is compared with `tol`.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where `X` has any.

    Notes
    -----
    Features are divided by their largest absolute values before the first pass, so that their units do not matter;
    `coef_` belongs to the features as they are given. A pass costs, for each instance, its number of non-zero features
    times the number of labels, plus its number of pairs.

    The result depends on the order of the visits. A row with an integer weight therefore approximates repeated rows,
    as in :class:`sklearn.linear_model.Perceptron`.

    References
    ----------
    Har-Peled, Roth, Zimak: Constraint classification for multiclass classification and ranking. NIPS 15, 2002.

    Khardon, Wachman: Noise tolerant variants of the perceptron algorithm. JMLR 8, 2007.

    Examples
    --------
    >>> from sklearn.model_selection import KFold, cross_val_score
    >>> from labelrank import ConstraintClassificationRanker
    >>> from labelrank.datasets import load_wine_rankings
    >>> X, y = load_wine_rankings(return_X_y=True)
    >>> ranker = ConstraintClassificationRanker(random_state=0)
    >>> print(f"{cross_val_score(ranker, X, y, cv=KFold(shuffle=True, random_state=0)).mean():.2f}")
    0.93
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRanker._parameter_constraints,
        "margin": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        margin: float = 1.0,
        max_iter: int = 200,
        tol: float = 2e-3,
        fit_intercept: bool = True,
        shuffle: bool = True,
        random_state: Any = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.margin = margin
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.random_state = random_state
        self.on_empty = on_empty

    def _checks(self) -> dict[str, Any]:
        return {"accept_sparse": "csr", "dtype": np.float64}

    def _learn(self, data: Training, progress: Progress) -> None:
        from labelrank._kernels.rankers.perceptron import SparseRows, perceptron_pass

        kept = (data.weight > 0) & data.graphs.has_pairs()
        graphs, weight = data.graphs[kept], data.weight[kept]
        # Coefficients are proportional to weights and margin. In units of the largest weight (a power of 2, so that
        # nothing is rounded) their squares do not overflow.
        unit = float(2.0 ** np.floor(np.log2(weight.max()))) if len(weight) else 1.0
        weight = weight / unit
        X, largest = _scaled(data.X[kept])
        features, constraints = SparseRows(X.data, X.indices, X.indptr), pair_rows(graphs)
        constant = float(self.fit_intercept)
        squares = weight @ row_norms(X, squared=True) / max(weight.sum(), 1e-300)
        margin = self.margin * (squares + constant) / unit
        total = float(weight @ graphs.concordance(np.zeros(graphs.shape))[1])  # weight of all pairs
        coef = np.zeros((X.shape[1] + 1, len(self.labels_)))
        moments, mean, gap = np.zeros_like(coef), np.zeros_like(coef), 0.0
        rng = check_random_state(self.random_state)

        def passes() -> Iterator[float]:
            """Share of violated constraints of each pass, until the mean converges."""
            nonlocal mean, gap
            time = 0.0
            for _ in range(self.max_iter if kept.any() else 0):
                order = rng.permutation(len(weight)) if self.shuffle else np.arange(len(weight))
                time, violated = perceptron_pass(
                    order, features, constraints, weight, constant, margin, coef, moments, time
                )
                before, mean = mean, coef - moments / time
                gap = float(np.linalg.norm(_direction(mean) - _direction(before)))
                yield violated / total
                if violated == 0 or gap <= self.tol:
                    return

        def attributes(curve: list[float]) -> dict[str, Any]:
            return {
                "coef_": _product(mean[:-1].T / largest, unit),
                "intercept_": _product(mean[-1], unit),
                "loss_curve_": np.array(curve),
                "n_iter_": len(curve),
                "gap_": gap,
            }

        curve = progress.collect("epoch", passes(), self.max_iter, attributes)
        self.__dict__.update(attributes(curve))
        if len(curve) == self.max_iter and gap > self.tol and curve[-1] > 0:
            warnings.warn(
                f"ConstraintClassificationRanker did not converge in max_iter={self.max_iter} passes: the last changed "
                f"the direction of the mean by {gap:.2g}, tol={self.tol:.2g}; increase max_iter or tol",
                ConvergenceWarning,
                stacklevel=stacklevel_of_user(),
            )

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Larger is better.
        """
        X = self._check_X(X)
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.non_deterministic = True  # the result depends on the order of the rows
        return tags


def _scaled(X: Any) -> tuple[Any, FloatArray]:
    """X as a CSR array with features of at most 1 and without duplicate entries, and what they were divided by."""
    rows: Any = sparse.csr_array(X)
    rows.sum_duplicates()
    largest = np.zeros(rows.shape[1])
    np.maximum.at(largest, rows.indices, np.abs(rows.data))
    largest[largest == 0] = 1.0
    rows.data = rows.data / largest[rows.indices]
    return rows, largest


def _product(coef: FloatArray, unit: float) -> FloatArray:
    with np.errstate(over="ignore"):
        product = coef * unit
    if not np.isfinite(product).all():
        raise ValueError("coefficients, which are proportional to sample_weight, overflow; divide the weights")
    return np.asarray(product)


def _direction(coef: FloatArray) -> FloatArray:
    norm = np.linalg.norm(coef)
    return np.asarray(coef / norm if norm > 0 else coef)
