"""Label ranking by kernel ridge regression on ranks, with kernels on instances and on labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank._compat import Interval, StrOptions, fit_context
from labelrank.rankers.base import OnEmpty, RankerMixin, all_or_nothing
from labelrank.solvers.least_squares.groups import FloatArray
from labelrank.solvers.least_squares.kernels import Kernel, check_symmetric, dense
from labelrank.solvers.least_squares.kronecker import LabelPairs, Product, label_pairs, solve_complete, solve_incomplete
from labelrank.solvers.least_squares.systems import RidgeSystem, block_rows
from labelrank.supervision import as_graphs, ranks_from_scores, stacklevel_of_user

_LARGEST = 8192  # side of the largest matrix that is built from sparse X for a linear kernel


class KernelRidgeRanker(RankerMixin, BaseEstimator):
    r"""Ranks labels by least squares on all pairs of labels, and labels that it has never seen by their features.

    The score of label l for instance x is :math:`f(x, l) = \sum_{i,j} a_{ij} \, k(x, x_i) \, k'(l, l_j)`. What is
    minimised is

    .. math:: \sum_i \frac{w_i}{k_i} \sum_{a, b} \bigl( (r_{ib} - r_{ia}) - (f(x_i, a) - f(x_i, b)) \bigr)^2
              + \alpha \|f\|^2

    over the pairs of the :math:`k_i` labels observed for instance i, with their ranks r. Without `label_features` the
    labels have nothing in common (:math:`k'` is the identity), and on complete rankings this is a kernel ridge
    regression on centred ranks for each label.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; on complete rankings that of :class:`sklearn.kernel_ridge.KernelRidge`.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Kernel of the instances. A callable takes two matrices and returns the matrix of their kernel values; with
        ``"precomputed"``, `X` holds the values with the training instances.
    gamma : float, optional
        Of the kernels ``"rbf"`` and ``"poly"``; by default 1 / n_features.
    degree : float, default=3
        Of the kernel ``"poly"``.
    coef0 : float, default=1
        Of the kernel ``"poly"``.
    kernel_params : mapping, optional
        Further arguments for a callable kernel.
    fit_intercept : bool, default=True
        Whether to add 1 to the kernel, which gives each label a constant of its own, under the same penalty.
    label_features : array-like of shape (n_labels, n_label_features), optional
        Features of the labels, in the order of the columns of `y`.
    label_kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Kernel of the labels, on `label_features`. With ``"precomputed"``, `label_features` is the kernel itself.
    label_kernel_params : mapping, optional
        ``gamma``, ``degree`` and ``coef0`` of the label kernel, or the arguments of a callable.
    tol : float, default=1e-10
        Where conjugate gradients stop: the residual relative to the targets.
    max_iter : int, default=1000
        Iterations of conjugate gradients at most.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows of y without any observed pair, from which nothing can be learned.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Linear kernel: coefficients; where there are label features, before the label kernel.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts; where there are label features, before the label kernel.
    dual_coef_ : ndarray of shape (n_samples, n_labels)
        Other kernels: coefficients of the training instances.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        Other kernels: the training instances; not with a precomputed kernel.
    label_gram_ : ndarray of shape (n_labels, n_labels)
        Kernel of the labels; only with label features.
    label_features_ : ndarray of shape (n_labels, n_label_features)
        Features of the labels; not where their kernel is precomputed.
    n_iter_ : int
        Iterations of conjugate gradients; 1 for a closed form.
    gap_ : float
        Residual that they have reached; 0 for a closed form.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Rankings enter by their order: ties share the mean of their places, and where labels are missing, the rank r among
    :math:`k_i` observed of k labels counts as :math:`r (k + 1) / (k_i + 1)`, its expectation in a complete ranking when
    labels are missing at random. Graphs of edges (battles, cycles) say of each edge only which label is better; its
    target difference is :math:`(k + 1) / 3`, the expected one of two labels, and weights of edges multiply its square.

    Complete rankings have a closed form. Missing labels and graphs of edges need conjugate gradients.

    References
    ----------
    Tsivtsivadze, Pahikkala, Airola, Boberg, Salakoski: A sparse regularized least-squares preference learning
    algorithm. SCAI 2008.

    Examples
    --------
    >>> from sklearn.model_selection import KFold, cross_val_score
    >>> from labelrank import KernelRidgeRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> ranker = KernelRidgeRanker(alpha=0.1, kernel="rbf")
    >>> print(f"{cross_val_score(ranker, X, y, cv=KFold(shuffle=True, random_state=0)).mean():.2f}")
    0.98
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({"linear", "rbf", "poly", "precomputed"}), callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [Mapping, None],
        "fit_intercept": ["boolean"],
        "label_features": ["array-like", "sparse matrix", None],
        "label_kernel": [StrOptions({"linear", "rbf", "poly", "precomputed"}), callable],
        "label_kernel_params": [Mapping, None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "on_empty": [StrOptions({"warn", "error", "ignore"})],
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: str | Callable[..., Any] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        fit_intercept: bool = True,
        label_features: npt.ArrayLike | None = None,
        label_kernel: str | Callable[..., Any] = "linear",
        label_kernel_params: Mapping[str, Any] | None = None,
        tol: float = 1e-10,
        max_iter: int = 1000,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.label_features = label_features
        self.label_kernel = label_kernel
        self.label_kernel_params = label_kernel_params
        self.tol = tol
        self.max_iter = max_iter
        self.on_empty = on_empty

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelRidgeRanker:
        """Learn from preferences.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; kernel values where ``kernel="precomputed"``.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            What was observed: missing and tied labels, cycles.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the instances.

        Returns
        -------
        self
        """
        X, y, weight = self._validate_fit(X, y, sample_weight, on_empty=self.on_empty, **self._checks())
        if self.kernel_params is not None and not callable(self.kernel):
            raise ValueError(f"kernel_params are for a callable kernel, not for kernel={self.kernel!r}")
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed kernel must be square, got shape {X.shape}")
        if self.kernel == "precomputed":
            check_symmetric(X, "a precomputed kernel")
        for name in ("coef_", "dual_coef_", "X_fit_", "label_gram_", "label_features_"):
            self.__dict__.pop(name, None)
        label_gram = self._label_gram()
        pairs = label_pairs(as_graphs(y), weight)
        if self.kernel == "linear":
            self._fit_features(X, pairs, label_gram)
        else:
            self._fit_kernel(X, pairs, label_gram)
        return self

    def decision_function(self, X: Any, label_features: Any = None) -> FloatArray:
        """Scores of the labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; kernel values where ``kernel="precomputed"``.
        label_features : array-like of shape (n_new_labels, n_label_features), optional
            Labels to score, seen in training or not, in place of those of `fit`; with a precomputed label kernel, its
            values with the labels of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples, n_new_labels)
            Larger is better.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **self._checks())
        if self.kernel == "linear":
            scores = np.asarray(X @ self.coef_.T)
        elif self.kernel == "precomputed":
            scores = X @ self.dual_coef_
        else:
            kernel, step = self._kernel(), block_rows(self.X_fit_.shape[0])
            blocks = [kernel(X[a : a + step], self.X_fit_) @ self.dual_coef_ for a in range(0, X.shape[0], step)]
            scores = np.concatenate(blocks)
        scores = scores + self.intercept_
        if label_features is not None:
            return np.asarray(scores @ self._new_labels(label_features).T)
        return np.asarray(scores @ self.label_gram_) if hasattr(self, "label_gram_") else scores

    def predict(self, X: Any, label_features: Any = None) -> FloatArray:
        """Predict a ranking of the labels of `fit`, or of those of `label_features`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        label_features : array-like of shape (n_new_labels, n_label_features), optional
            Labels to rank, seen in training or not.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples, n_new_labels)
            Ranks: 1 + the number of labels with a larger score.

        Examples
        --------
        >>> import numpy as np
        >>> from labelrank import KernelRidgeRanker, ranks_from_scores
        >>> rng = np.random.default_rng(0)
        >>> users, drinks = rng.normal(size=(50, 3)), rng.normal(size=(8, 3))
        >>> y = ranks_from_scores(users @ drinks.T)  # what suits a user is liked
        >>> ranker = KernelRidgeRanker(label_features=drinks).fit(users, y)
        >>> new = np.eye(3)
        >>> ranker.predict([[3.0, 2.0, 1.0]], label_features=new)
        array([[1., 2., 3.]])
        """
        return ranks_from_scores(self.decision_function(X, label_features))

    # -----------------------------------------------------------------------------------------------------------

    def _checks(self) -> dict[str, Any]:
        return {"accept_sparse": False if self.kernel == "precomputed" else "csr", "dtype": np.float64}

    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self.gamma, self.degree, self.coef0, dict(self.kernel_params or {}))

    def _label_kernel(self) -> Kernel:
        params = dict(self.label_kernel_params or {})
        if callable(self.label_kernel):
            return Kernel(self.label_kernel, params=params)
        unknown = set(params) - {"gamma", "degree", "coef0"}
        if unknown:
            raise ValueError(f"label_kernel_params has {sorted(unknown)}; the kernels take gamma, degree and coef0")
        return Kernel(self.label_kernel, **params)

    def _label_gram(self) -> FloatArray | None:
        """Kernel of the labels; None is the identity."""
        if self.label_features is None:
            if self.label_kernel == "precomputed":
                raise ValueError('label_kernel="precomputed" needs the kernel as label_features')
            if self.label_kernel != "linear" or self.label_kernel_params is not None:
                raise ValueError("label_kernel and label_kernel_params are for label_features, which are not given")
            return None
        features = check_array(self.label_features, accept_sparse="csr", dtype=np.float64, input_name="label_features")
        if features.shape[0] != len(self.labels_):
            raise ValueError(f"label_features has {features.shape[0]} rows, but y has {len(self.labels_)} labels")
        if self.label_kernel == "precomputed":
            self.label_gram_ = np.array(dense(features))
            if self.label_gram_.shape[0] != self.label_gram_.shape[1]:
                raise ValueError(f"a precomputed label kernel must be square, got shape {self.label_gram_.shape}")
            check_symmetric(self.label_gram_, "a precomputed label kernel")
        else:
            self.label_features_ = features
            self.label_gram_ = self._label_kernel()(features, features)
        return self.label_gram_

    def _new_labels(self, label_features: Any) -> FloatArray:
        if not hasattr(self, "label_gram_"):
            raise ValueError("labels that were not trained on need label_features in the constructor too")
        features = check_array(label_features, accept_sparse="csr", dtype=np.float64, input_name="label_features")
        expected = len(self.labels_) if self.label_kernel == "precomputed" else self.label_features_.shape[1]
        if features.shape[1] != expected:
            raise ValueError(f"label_features has {features.shape[1]} columns, expected {expected} as in fit")
        if self.label_kernel == "precomputed":
            return np.asarray(dense(features))
        return self._label_kernel()(features, self.label_features_)

    def _fit_features(self, X: Any, pairs: LabelPairs, label_gram: FloatArray | None) -> None:
        """Linear kernel: the n x n matrix is built only where it is the smaller one, for closed forms."""
        thin: bool = sparse.issparse(X)
        with np.errstate(over="ignore"):
            largest = np.square(np.abs(X.data if thin else X).max(initial=0.0)) * float(X.shape[0] * X.shape[1])
        if not np.isfinite(largest):
            raise ValueError("products of the features are too large for floating point numbers: scale X")
        if self.fit_intercept:
            ones = np.ones((X.shape[0], 1))
            X = sparse.hstack([X, sparse.csr_array(ones)], format="csr") if thin else np.hstack([X, ones])
        small = not thin or min(X.shape) <= _LARGEST
        if pairs.scores is not None and small:
            root = np.sqrt(pairs.weight)[:, np.newaxis]
            scaled = X.multiply(root).tocsr() if thin else X * root
            if X.shape[1] <= X.shape[0]:
                system = RidgeSystem(
                    np.asfortranarray(dense(scaled.T @ scaled)), np.asarray(scaled.T @ (root * pairs.scores))
                )
                coef = solve_complete(system, label_gram, self.alpha)
            else:
                system = RidgeSystem(np.asfortranarray(dense(scaled @ scaled.T)), root * pairs.scores)
                coef = scaled.T @ solve_complete(system, label_gram, self.alpha)
            self.n_iter_, self.gap_ = 1, 0.0
        else:
            coef = X.T @ self._iterate(pairs, lambda A: np.asarray(X @ (X.T @ A)), label_gram)
        coef = np.ascontiguousarray(np.asarray(coef).T)
        self.intercept_ = coef[:, -1].copy() if self.fit_intercept else np.zeros(len(coef))
        self.coef_ = coef[:, :-1].copy() if self.fit_intercept else coef

    def _fit_kernel(self, X: Any, pairs: LabelPairs, label_gram: FloatArray | None) -> None:
        if self.kernel == "precomputed":
            gram = np.array(X)
        else:
            gram, self.X_fit_ = self._kernel()(X, X), X
        if self.fit_intercept:
            gram += 1
        if pairs.scores is not None:
            root = np.sqrt(pairs.weight)
            gram *= root
            gram *= root[:, np.newaxis]
            system = RidgeSystem(gram.T, root[:, np.newaxis] * pairs.scores)
            self.dual_coef_ = root[:, np.newaxis] * solve_complete(system, label_gram, self.alpha)
            self.n_iter_, self.gap_ = 1, 0.0
        else:
            self.dual_coef_ = self._iterate(pairs, lambda A: gram @ A, label_gram)
        self.intercept_ = self.dual_coef_.sum(axis=0) if self.fit_intercept else np.zeros(pairs.shape[1])

    def _iterate(self, pairs: LabelPairs, product: Product, label_gram: FloatArray | None) -> FloatArray:
        solved = solve_incomplete(pairs, product, label_gram, self.alpha, tol=self.tol, max_iter=self.max_iter)
        self.n_iter_, self.gap_ = max(solved.n_iter, 1), solved.gap
        if solved.gap > self.tol:
            if solved.n_iter >= self.max_iter:
                where, advice = f"after max_iter={self.max_iter} iterations", "increase max_iter, take a larger alpha"
            else:
                where, advice = f"at rounding error after {solved.n_iter} iterations", "take a larger alpha"
            warnings.warn(
                f"KernelRidgeRanker stopped {where} with a residual of {solved.gap:.2g}, tol={self.tol:g}; {advice}, "
                "or accept it by a larger tol",
                ConvergenceWarning,
                stacklevel=stacklevel_of_user(),
            )
        return solved.solution
