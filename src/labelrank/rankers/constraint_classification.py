"""Constraint classification: a perceptron over pairwise constraints."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank._compat import Interval, StrOptions, fit_context
from labelrank.rankers.base import OnEmpty, RankerMixin
from labelrank.supervision import PreferenceGraphs, as_graphs, stacklevel_of_user

FloatArray = npt.NDArray[np.float64]


class ConstraintClassificationRanker(RankerMixin, BaseEstimator):
    r"""Linear scores learned by a noise-tolerant perceptron from pairwise constraints.

    The score of label l is :math:`f_l(x) = w_l \cdot x + b_l`. "a before b" for the instance x is a constraint on all
    coefficients at once, :math:`v \cdot z > 0`, where v is the vector of all :math:`w_l` and z has x in the place of
    :math:`w_a` and -x in that of :math:`w_b`: Kesler's construction, which makes a binary classification problem of the
    constraints. The perceptron visits the instances in turn. At each it adds up the vectors of the constraints that are
    not satisfied with the margin :math:`\tau`, times their weights,

    .. math:: v \leftarrow v + \sum_{(a, b) : f_a(x) - f_b(x) \le \tau} z_{ab},

    and what it returns is the mean of v over all visits. No vector z is ever built.

    Margin and averaging make it tolerant of noise: constraints that contradict each other keep a perceptron moving for
    ever, but its mean settles, and with a margin a constraint that holds by chance still counts.

    Parameters
    ----------
    margin : float, default=1.0
        How far a constraint must be satisfied not to count as violated, in units of the mean squared length of the
        instances (with the constant feature): half of what one update adds to the difference of two scores. 0 is the
        classical perceptron.
    max_iter : int, default=200
        Number of passes over the instances at most.
    tol : float, default=2e-3
        Stop when a pass turns the mean by less: when the distance of its direction from that before the pass is not
        larger. It also stops after a pass without a violated constraint.
    fit_intercept : bool, default=True
        Whether to add an intercept for each label, one more constant feature.
    shuffle : bool, default=True
        Whether to draw a new order of the instances for each pass. The order depends on `random_state` and the content
        of the rows, not on their places: equal rows are taken together, as one row with the sum of their weights, so
        that a weight is a number of rows and the order of the training set does not matter. With False, rows are
        visited one by one as they come, in each pass.
    random_state : int, RandomState instance or None, default=0
        For the orders. As with :class:`sklearn.linear_model.Perceptron`, the default gives the same model each time.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows of y without any observed pair, from which nothing can be learned.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Coefficients.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts.
    violated_curve_ : ndarray of shape (n_iter_,)
        The share of the constraints, by weight, that each pass found violated (not satisfied with the margin).
    n_iter_ : int
        Number of passes.
    gap_ : float
        How far the last pass turned the mean; `tol` is compared with it.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    A pass costs, for each instance, its number of non-zero features times the number of labels, and its number of
    pairs. Scale the features to a common range first.

    References
    ----------
    Har-Peled, Roth, Zimak: Constraint classification for multiclass classification and ranking. NIPS 15, 2002.

    Khardon, Wachman: Noise tolerant variants of the perceptron algorithm. JMLR 8, 2007.

    Examples
    --------
    >>> from sklearn.model_selection import KFold, cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from labelrank import ConstraintClassificationRanker
    >>> from labelrank.datasets import load_wine_rankings
    >>> X, y = load_wine_rankings(return_X_y=True)
    >>> ranker = make_pipeline(StandardScaler(), ConstraintClassificationRanker())
    >>> print(f"{cross_val_score(ranker, X, y, cv=KFold(shuffle=True, random_state=0)).mean():.2f}")
    0.94
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "margin": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "on_empty": [StrOptions({"warn", "error", "ignore"})],
    }

    def __init__(
        self,
        *,
        margin: float = 1.0,
        max_iter: int = 200,
        tol: float = 2e-3,
        fit_intercept: bool = True,
        shuffle: bool = True,
        random_state: Any = 0,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.margin = margin
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.random_state = random_state
        self.on_empty = on_empty

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ConstraintClassificationRanker:
        """Learn the coefficients.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            What was observed. Labels that are missing or tied give no constraint; the weight of an edge multiplies the
            step.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights of the instances.

        Returns
        -------
        ConstraintClassificationRanker
        """
        checks: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}
        X, y, weight = self._validate_fit(X, y, sample_weight, on_empty=self.on_empty, **checks)
        features, constraints = _features(X), _constraints(as_graphs(y))
        rows = np.flatnonzero((weight > 0) & (constraints.total > 0))
        if self.shuffle:
            rows, weight = _canonical(rows, features, constraints, weight)
        self._learn(features, constraints, rows, weight)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels, larger is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _learn(
        self, features: Features, constraints: Constraints, rows: npt.NDArray[np.intp], weight: FloatArray
    ) -> None:
        from labelrank._kernels.rankers.perceptron import perceptron_pass

        constant = float(self.fit_intercept)
        margin = self.margin * features.mean_square(rows, weight, constant)
        total = float(weight[rows] @ constraints.total[rows])
        coef = np.zeros((self.n_features_in_ + 1, len(self.labels_)))
        moments, mean = np.zeros_like(coef), np.zeros_like(coef)
        rng = check_random_state(self.random_state)
        time = 0.0
        curve: list[float] = []
        self.gap_ = 0.0
        while len(rows) and len(curve) < self.max_iter:
            order = rng.permutation(rows) if self.shuffle else rows
            time, violated = perceptron_pass(
                order, *features.arrays, constant, *constraints.arrays, weight, margin, coef, moments, time
            )
            curve.append(violated / total)
            before, mean = mean, coef - moments / time
            self.gap_ = float(np.linalg.norm(_direction(mean) - _direction(before)))
            if violated == 0 or self.gap_ <= self.tol:
                break
        else:
            if len(rows):
                warnings.warn(
                    f"ConstraintClassificationRanker: after max_iter={self.max_iter} passes the mean still turned by "
                    f"{self.gap_:.2g} in a pass, with tol={self.tol:.2g}; raise max_iter or tol, or scale the features",
                    ConvergenceWarning,
                    stacklevel=stacklevel_of_user(),
                )
        self.coef_ = np.ascontiguousarray(mean[:-1].T)
        self.intercept_ = mean[-1]
        self.violated_curve_ = np.array(curve)
        self.n_iter_ = len(curve)


class Features(NamedTuple):
    """Rows of X as the kernel takes them: CSR arrays, `indices` empty for dense rows."""

    data: FloatArray
    indices: npt.NDArray[Any]
    indptr: npt.NDArray[np.int64]

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """In the order of the kernel."""
        return tuple(self)

    def mean_square(self, rows: npt.NDArray[np.intp], weight: FloatArray, constant: float) -> float:
        """Mean squared length of some rows, with the constant feature."""
        if not len(rows):
            return 0.0
        counts = np.diff(self.indptr)
        with np.errstate(over="ignore"):
            squares = np.bincount(np.repeat(np.arange(len(counts)), counts), self.data**2, minlength=len(counts))
            mean = float(np.average(squares[rows], weights=weight[rows])) + constant
        if not np.isfinite(mean):
            raise ValueError("X is so large that the squared length of its rows is infinite; scale the features")
        return mean


class Constraints(NamedTuple):
    """Graphs as the kernel takes them: levels, or edges where the second axis of `levels` is empty."""

    levels: npt.NDArray[np.int32]
    pointers: npt.NDArray[np.int64]
    better: npt.NDArray[np.int32]
    worse: npt.NDArray[np.int32]
    votes: FloatArray
    total: FloatArray  # of each instance
    n_labels: int

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """In the order of the kernel."""
        return tuple(self[:5])


def _features(X: Any) -> Features:
    if sparse.issparse(X):
        csr: Any = X
        if not csr.has_canonical_format:
            csr = csr.copy()  # the user's matrix stays as it is
            csr.sum_duplicates()
        return Features(csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64))
    n, d = X.shape
    return Features(X.ravel(), np.empty(0, np.int64), np.arange(n + 1, dtype=np.int64) * d)


def _constraints(graphs: PreferenceGraphs) -> Constraints:
    n, k = graphs.shape
    if graphs.storage == "levels":
        none = np.empty(0, np.int32)
        counts = graphs.edge_counts().astype(np.float64)
        return Constraints(graphs.levels.astype(np.int32), np.empty(0, np.int64), none, none, np.empty(0), counts, k)
    votes = np.ones(graphs.n_edges) if graphs.weight is None else np.asarray(graphs.weight, np.float64)
    pointers = graphs.indptr.astype(np.int64)
    total: FloatArray = np.bincount(np.repeat(np.arange(n), np.diff(pointers)), votes, minlength=n).astype(np.float64)
    ends = graphs.better.astype(np.int32), graphs.worse.astype(np.int32)
    return Constraints(np.empty((n, 0), np.int32), pointers, *ends, votes, total, k)


def _canonical(
    rows: npt.NDArray[np.intp], features: Features, constraints: Constraints, weight: FloatArray
) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """One of each kind of equal rows, in an order that their content gives, and the weights of the kinds."""
    from labelrank._kernels.rankers.perceptron import row_keys

    *graphs, votes = constraints.arrays
    bits = features.data.view(np.uint64)
    keys = row_keys(features.data, bits, *features[1:], *graphs, votes.view(np.uint64), constraints.n_labels)[rows]
    by_key = np.lexsort(keys.T)
    rows, keys = rows[by_key], keys[by_key]
    first = np.flatnonzero(np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)])[: len(keys)])
    merged = np.zeros_like(weight)
    if len(rows):
        merged[rows[first]] = np.add.reduceat(weight[rows], first)
    return rows[first], merged


def _direction(coef: FloatArray) -> FloatArray:
    length = np.linalg.norm(coef)
    return np.asarray(coef / length if length > 0 else coef)
