"""Ranking of scored items in groups by least squares on pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank._compat import Interval, StrOptions, check_sample_weight, fit_context
from labelrank.rankers.base import all_or_nothing
from labelrank.solvers.least_squares import systems as rls
from labelrank.solvers.least_squares.basis import centres, check_basis, draw_basis
from labelrank.solvers.least_squares.groups import (
    FloatArray,
    GroupedItems,
    IntArray,
    Weighting,
    apply_root,
    group_items,
)
from labelrank.solvers.least_squares.iterative import solve_iteratively
from labelrank.solvers.least_squares.kernels import Kernel, check_symmetric, dense
from labelrank.solvers.least_squares.leave_out import held_out_scores
from labelrank.supervision import stacklevel_of_user
from labelrank.supervision.groups import group_codes

_LARGEST = 8192  # side of the largest matrix that is built from sparse X for a linear kernel
_OF_SOME_ROUTES = (
    *("coef_", "dual_coef_", "basis_", "basis_indices_", "gram_", "target_", "factor_", "kept_"),
    *("item_group_", "item_scale_", "eigenvalues_", "directions_", "projections_", "columns_"),
)


class RankRLS(RegressorMixin, BaseEstimator):
    r"""Scores for items, learned from all pairs within a group by regularized least squares.

    Items are rows of `X` with real scores `y`; only items of the same group are compared: parses of a sentence,
    documents of a query. What is minimised is

    .. math:: \sum_{q} \sum_{i < j \in q} \bigl( (y_i - y_j) - (f(x_i) - f(x_j)) \bigr)^2 + \alpha \|f\|^2 ,

    with the norm of the kernel. The solution has a closed form and costs no more than a ridge regression; with
    `n_basis`, :math:`f(x) = \sum_{i \in R} a_i k(x, x_i)` has terms for a few items R only, and the training set may be
    large.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        A callable takes two matrices of items and returns the matrix of their kernel values. With ``"precomputed"``,
        `X` holds kernel values with the training items, or, in all calls, with the items that `basis` lists, in its
        order. In `fit` a square `X` is always the kernel of all items, its columns in the order of its rows.
    gamma : float, optional
        Of the kernels ``"rbf"`` and ``"poly"``; by default 1 / n_features.
    degree : float, default=3
        Of the kernel ``"poly"``.
    coef0 : float, default=1
        Of the kernel ``"poly"``.
    kernel_params : mapping, optional
        Further arguments for a callable kernel.
    n_basis : int, optional
        Number of basis vectors of sparse RankRLS; by default every item is one.
    basis : {"random", "kmeans"} or array-like of int, default="random"
        How `n_basis` basis vectors are found: drawn from the items, or centres of k-means. Or which rows of `X` they
        are.
    weighting : {"pairs", "groups"}, default="pairs"
        Whether each pair counts the same, so that large groups dominate, or each group: its mean over pairs.
    random_state : int, RandomState or None, default=None
        For a basis that is drawn.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Linear kernel: the coefficients of the features.
    dual_coef_ : ndarray of shape (n_basis,)
        Coefficients of the basis vectors; not for a linear kernel that was solved by features.
    basis_ : ndarray or sparse matrix of shape (n_basis, n_features)
        The basis vectors. Not with a precomputed kernel, and not where `coef_` is all that is needed.
    basis_indices_ : ndarray of shape (n_basis,)
        Their rows in `X`; not of k-means.
    columns_ : ndarray of shape (n_basis,)
        Precomputed kernel with a basis: the columns of `X` that hold its values.
    route_ : {"primal", "dual", "basis", "iterative"}
        How it was solved: by features, by all items, by a basis, or by conjugate gradients, which is for linear kernels
        on sparse `X` with more than 8192 rows and columns.
    gram_, target_, factor_, kept_, item_group_, item_scale_ : ndarray
        What `path` needs: the system that was solved (lower triangle), its right-hand side, the Cholesky factor of the
        basis, the basis vectors that it is of, and group and scale of each item that counts.
    eigenvalues_, directions_, projections_ : ndarray
        Set by the first call of `path`, in place of `gram_`, `target_` and `factor_`.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    RankRLSCV : chooses `alpha` and the kernel's parameters.
    KernelRidgeRanker : the same loss for labels of instances.

    Notes
    -----
    The pair of items with weights v and w has the weight v·w. With ``weighting="pairs"`` an integer weight is a number
    of copies.

    Basis vectors that depend on others, up to rounding, get the coefficient 0, with a warning. Where `alpha` is below
    the rounding error of the kernel, directions without eigenvalue are left out, with a warning.

    References
    ----------
    Tsivtsivadze, Pahikkala, Airola, Boberg, Salakoski: A sparse regularized least-squares preference learning
    algorithm. SCAI 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import RankRLS
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.normal(size=(200, 3)), np.repeat(np.arange(20), 10)
    >>> y = X @ [2.0, -1.0, 0.0] + rng.normal(size=20)[groups]  # each group has a level of its own
    >>> ranker = RankRLS(alpha=0.1).fit(X, y, groups=groups)
    >>> ranker.coef_.round(2) + 0.0
    array([ 2., -1.,  0.])
    >>> print(f"{ranker.score(X, y, groups=groups):.2f}")
    1.00
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({"linear", "rbf", "poly", "precomputed"}), callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [Mapping, None],
        "n_basis": [Interval(Integral, 1, None, closed="left"), None],
        "basis": [StrOptions({"random", "kmeans"}), "array-like"],
        "weighting": [StrOptions({"pairs", "groups"})],
        "random_state": ["random_state"],
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
        n_basis: int | None = None,
        basis: Literal["random", "kmeans"] | npt.ArrayLike = "random",
        weighting: Weighting = "pairs",
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_basis = n_basis
        self.basis = basis
        self.weighting = weighting
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> RankRLS:
        """Learn scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_items, n_features)
            Items; kernel values where ``kernel="precomputed"``.
        y : array-like of shape (n_items,)
            Scores, larger is better; equal ones are tied.
        sample_weight : array-like of shape (n_items,), optional
            Weights of the items.
        groups : array-like of shape (n_items,), optional
            Group of each item: any names, in any order. By default all items form one group.

        Returns
        -------
        self
        """
        X, items = self._prepare(X, y, groups, sample_weight)
        if self.route_ == "iterative":
            self.coef_ = solve_iteratively(X, items, self.alpha)
            return self
        z = rls.solve(rls.RidgeSystem(self.gram_, self.target_), self.alpha)
        if z is None:
            self._use(self._path([self.alpha])[:, 0])
        else:
            self._use(self._coefficients(rls.solve_factor(self.factor_, z) if self.route_ == "basis" else z))
        return self

    def path(self, alphas: Any) -> FloatArray:
        """Solutions for many penalties by one eigendecomposition, which later calls use again.

        Parameters
        ----------
        alphas : array-like of shape (n_alphas,)
            Penalties.

        Returns
        -------
        ndarray of shape (n_alphas, n_features) or (n_alphas, n_basis)
            For each penalty what `fit` would have as `coef_`, for a linear kernel, or as `dual_coef_`.

        Examples
        --------
        >>> import numpy as np
        >>> from labelrank import RankRLS
        >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]]), np.array([1.0, 0.0, 3.0])
        >>> RankRLS().fit(X, y).path([0.01, 1.0, 100.0]).round(2)
        array([[1.5 , 0.5 ],
               [1.29, 0.33],
               [0.08, 0.01]])
        """
        check_is_fitted(self)
        coefficients = self._path(check_alphas(alphas))
        if self.kernel == "linear" and self.route_ != "primal":
            return np.asarray((self.basis_.T @ coefficients).T)
        return np.ascontiguousarray(coefficients.T)

    def predict(self, X: Any) -> FloatArray:
        """Scores of items; only differences within a group have a meaning.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_items, n_features)
            Items; kernel values where ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_items,)
            Larger is better.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **self._checks())
        return self._scores(X, self.coef_ if self.kernel == "linear" else self.dual_coef_)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> float:
        """1 less the disagreement within groups; see :func:`labelrank.metrics.group_disagreement`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_items, n_features)
            Items.
        y : array-like of shape (n_items,)
            True scores.
        sample_weight : array-like of shape (n_items,), optional
            Weights of the items; a pair has the product of two.
        groups : array-like of shape (n_items,), optional
            Group of each item; by default all items form one group.

        Returns
        -------
        float
            From 0 to 1.
        """
        return agreement(y, self.predict(X), groups, sample_weight)

    # --- What is solved

    def _checks(self) -> dict[str, Any]:
        return {"accept_sparse": False if self.kernel == "precomputed" else "csr", "dtype": np.float64, "order": "C"}

    def _prepare(self, X: Any, y: Any, groups: Any, sample_weight: Any) -> tuple[Any, GroupedItems]:
        """Check, choose the route, and set up its system."""
        X, y = validate_data(self, X, y, y_numeric=True, **self._checks())
        y = y.astype(np.float64)
        if self.kernel_params is not None and not callable(self.kernel):
            raise ValueError(f"kernel_params are for a callable kernel, not for kernel={self.kernel!r}")
        weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        items = group_items(y, groups, weight, self.weighting)
        if not np.any(np.diff(items.start) > 1):
            warnings.warn(
                "no group has two items with a weight, so that there is no pair to learn from: all scores will be 0",
                stacklevel=stacklevel_of_user(),
            )
        for name in _OF_SOME_ROUTES:
            self.__dict__.pop(name, None)
        self.route_ = self._choose_route(X)
        thin: bool = sparse.issparse(X)
        if self.route_ == "primal":
            if thin:
                system = rls.sparse_primal_system(X[items.order], items)
            else:
                system = rls.primal_system(self._rows(X, items), items, X.shape[1])
        elif self.route_ == "basis":
            self._choose_basis(X)
            self.factor_, self.kept_ = rls.basis_factor(self._basis_kernel(X))
            system = rls.basis_system(self._rows(X, items), items, self.factor_)
        elif self.route_ == "dual":
            if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"a precomputed kernel must be square, got shape {X.shape}; where its columns are basis vectors "
                    "only, say with basis=[...] which rows they are"
                )
            if self.kernel == "precomputed":
                check_symmetric(X, "a precomputed kernel")
            self.basis_indices_ = np.arange(X.shape[0])
            if self.kernel != "precomputed":
                self.basis_ = X
            system = rls.dual_system(self._rows(X, items), items)
            self.item_group_, self.item_scale_, self.kept_ = items.code, items.scale, items.order
        else:
            return X, items
        self.gram_, self.target_ = system.gram, system.target
        return X, items

    def _choose_route(self, X: Any) -> str:
        if self.n_basis is not None or not isinstance(self.basis, str):
            return "basis"
        if self.basis == "kmeans":
            raise ValueError('basis="kmeans" needs n_basis, the number of centres')
        if self.kernel != "linear":
            return "dual"
        thin: bool = sparse.issparse(X)
        if thin and min(X.shape) > _LARGEST:
            return "iterative"
        return "primal" if X.shape[1] <= X.shape[0] else "dual"

    def _choose_basis(self, X: Any) -> None:
        rows = check_basis(self.basis, self.n_basis, X.shape[0])
        if isinstance(self.basis, str) and self.basis == "kmeans":
            if self.kernel == "precomputed":
                raise ValueError('basis="kmeans" needs features; it does not go with kernel="precomputed"')
            self.basis_ = centres(X, int(self.n_basis or 0), self.random_state)
            return
        self.basis_indices_ = (
            draw_basis(int(self.n_basis or 0), X.shape[0], self.random_state) if rows is None else rows
        )
        if self.kernel == "precomputed":
            self.columns_ = self._find_columns(X)
        else:
            self.basis_ = X[self.basis_indices_]

    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self.gamma, self.degree, self.coef0, dict(self.kernel_params or {}))

    def _basis_kernel(self, X: Any) -> FloatArray:
        if self.kernel == "precomputed":
            return np.asarray(X[self.basis_indices_][:, self.columns_])
        return self._kernel()(self.basis_, self.basis_)

    def _find_columns(self, X: Any) -> IntArray:
        """Columns of precomputed kernel values that belong to the basis."""
        n_basis = len(self.basis_indices_)
        if X.shape[0] != X.shape[1]:
            if X.shape[1] == n_basis:
                return np.arange(n_basis)
            raise ValueError(
                f"a precomputed kernel must have a column for each of the {X.shape[0]} items, or for each of the "
                f"{n_basis} basis vectors, got shape {X.shape}"
            )
        check_symmetric(X, "a square precomputed kernel")
        return self.basis_indices_

    def _rows(self, X: Any, items: GroupedItems) -> rls.Rows:
        """New rows of features, or of kernel values with what counts of the basis, of the items a:b."""
        whole = items.in_order and len(items) == X.shape[0]
        if self.route_ != "primal" and self.kernel != "precomputed":
            kernel, basis = self._kernel(), self.basis_[self.kept_] if self.route_ == "basis" else X[items.order]

        def rows(a: int, b: int) -> FloatArray:
            block = X[a:b] if whole else X[items.order[a:b]]
            if self.route_ == "primal":
                block = dense(block)
                return np.array(block, order="C") if whole else np.ascontiguousarray(block)
            if self.kernel != "precomputed":
                return kernel(block, basis)
            if self.route_ == "dual":
                return np.array(block if whole else block[:, items.order], order="C")
            return np.array(block[:, self.columns_[self.kept_]], order="C")

        return rows

    # --- What comes out

    def _decompose(self) -> None:
        if self.route_ == "iterative":
            raise ValueError(
                "X was too large for a decomposition: this estimator was fitted by conjugate gradients, for its own "
                f"alpha={self.alpha} alone; fit once for each penalty, or pass n_basis"
            )
        if hasattr(self, "eigenvalues_"):
            return
        spectrum = rls.decompose(rls.RidgeSystem(self.gram_, self.target_))
        directions = spectrum.vectors
        if self.route_ == "basis":
            directions = rls.solve_factor(self.factor_, directions)
        del self.gram_, self.target_
        self.__dict__.pop("factor_", None)
        self.eigenvalues_, self.directions_, self.projections_ = spectrum.values, directions, spectrum.target

    def _path(self, alphas: Any) -> FloatArray:
        """Coefficients (n, n_alphas): of the features, or of the basis."""
        self._decompose()
        shrunk = rls.shrink(self.eigenvalues_, np.asarray(alphas, dtype=np.float64))
        return self._coefficients(self.directions_ @ (self.projections_[:, np.newaxis] * shrunk))

    def _coefficients(self, z: FloatArray) -> FloatArray:
        if self.route_ == "primal":
            return z
        if self.route_ == "dual":
            z = apply_root(z, self.item_group_, self.item_scale_)
        n_basis = len(self.basis_indices_) if hasattr(self, "basis_indices_") else self.basis_.shape[0]
        coefficients = np.zeros((n_basis, *z.shape[1:]))
        coefficients[self.kept_] = z
        return coefficients

    def _use(self, coefficients: FloatArray) -> None:
        """Set the attributes of a solution."""
        if self.route_ == "primal":
            self.coef_ = coefficients
            return
        self.dual_coef_ = coefficients
        if self.kernel == "linear":
            self.coef_ = np.asarray(self.basis_.T @ coefficients)

    def _scores(self, X: Any, coefficients: FloatArray) -> FloatArray:
        """Scores by `coef_` or `dual_coef_`, of one penalty or in columns of many; kernel values a block at a time."""
        if self.kernel == "linear":
            return np.asarray(X @ coefficients)
        if self.kernel == "precomputed":
            return np.asarray((X[:, self.columns_] if self.route_ == "basis" else X) @ coefficients)
        kernel = self._kernel()
        scores = np.empty((X.shape[0], *coefficients.shape[1:]))
        step = rls.block_rows(len(coefficients))
        for a in range(0, X.shape[0], step):
            scores[a : a + step] = kernel(X[a : a + step], self.basis_) @ coefficients
        return scores

    def _held_out(self, X: Any, items: GroupedItems, alphas: FloatArray) -> FloatArray:
        """Scores of the items by the model without their group, in columns of penalties."""
        self._decompose()
        rows = None if self.route_ == "dual" else self._rows(X, items)
        return held_out_scores(self.eigenvalues_, self.projections_, self.directions_, items, alphas, rows)


def agreement(y: Any, scores: FloatArray, groups: Any, sample_weight: Any = None) -> float:
    """1 less the mean disagreement per group."""
    from labelrank.metrics import group_disagreement

    code = None if groups is None else group_codes(groups, len(scores))
    if sample_weight is None:
        return 1.0 - group_disagreement(y, scores, code)
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    check_consistent_length(y, scores)
    weight = check_sample_weight(sample_weight, scores, dtype=np.float64, ensure_non_negative=True)
    items = group_items(y, code, weight, "pairs")
    f, w = scores[items.order], weight[items.order]
    errors = [
        _weighted_disagreement(items.y[a:b], f[a:b], w[a:b])
        for a, b in zip(items.start[:-1], items.start[1:], strict=True)
        if b - a > 1
    ]
    if not errors:  # warns
        return 1.0 - group_disagreement(items.y, f, np.arange(len(f)))
    return 1.0 - float(np.mean(errors))


def _weighted_disagreement(y: FloatArray, f: FloatArray, w: FloatArray) -> float:
    w = w / w.max()
    total, pairs = 0.0, 0.0
    for i in range(1, len(y)):
        pairs += w[i] * float(w[:i].sum())
        total += w[i] * float(w[:i] @ np.abs(np.sign(y[i] - y[:i]) - np.sign(f[i] - f[:i]))) / 2
    return total / pairs


def check_alphas(alphas: Any) -> FloatArray:
    """Penalties as an array; an error names what is none."""
    alphas = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
    if alphas.ndim != 1 or not len(alphas) or not (np.isfinite(alphas) & (alphas > 0)).all():
        raise ValueError(f"alphas must be one or more finite numbers above 0, got {alphas}")
    return alphas
