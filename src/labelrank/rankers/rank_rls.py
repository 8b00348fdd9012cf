"""Ranking of scored items in groups by least squares on pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from labelrank._arrays import FloatArray, canonical, of_tensor
from labelrank._compat import Interval, StrOptions, check_sample_weight, fit_context
from labelrank.losses.squared import GroupedSquaredLoss, Weighting
from labelrank.models.gram import KERNEL_CONSTRAINTS, Gamma, Kernel, check_symmetric
from labelrank.rankers.base import Progress, refitting
from labelrank.rankers.items import ItemRanker, check_candidates
from labelrank.rankers.minimizer import Device
from labelrank.solvers.base import Stop
from labelrank.solvers.least_squares.basis import check_basis, draw_basis, kmeans_centers
from labelrank.solvers.least_squares.items import (
    ItemSystem,
    Rows,
    basis_system,
    dual_system,
    primal_system,
    solve_iteratively,
)
from labelrank.solvers.least_squares.leave_out import held_out_differences, held_out_scores
from labelrank.solvers.least_squares.ridge import LARGEST
from labelrank.supervision import stacklevel_of_user
from labelrank.torch import device_features, find_device, validate_features

STOP = Stop(max_iter=2000, tol=1e-10)  # of conjugate gradients


class Prepared(NamedTuple):
    """Validated items, sorted by group, and the system of their pairs."""

    X: Any
    loss: GroupedSquaredLoss
    system: ItemSystem | None  # None if X is too large for one
    rows: Rows | None  # None in the dual


class RankRLS(ItemRanker):
    r"""Scores for items, learned from all pairs within a group by regularized least squares.

    Items are rows of `X` with real scores `y`; only items of the same group are compared: parses of a sentence,
    documents of a query. It minimizes

    .. math:: \sum_{q} \sum_{i < j \in q} \bigl( (y_i - y_j) - (f(x_i) - f(x_j)) \bigr)^2 + \alpha \|f\|^2 ,

    with the norm of the kernel. The solution has a closed form and costs no more than a ridge regression. With
    `n_basis`, :math:`f(x) = \sum_{i \in R} a_i k(x, x_i)` has terms for a few items R only, and the training set may be
    large.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        Kernel of the items. A callable takes two matrices of items and returns the matrix of their kernel values. With
        ``"precomputed"``, `X` holds kernel values with the training items or, in all calls, with the items that `basis`
        lists, in its order. In `fit` a square `X` is always the kernel of all items, its columns in the order of its
        rows.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels ``"rbf"``, ``"poly"`` and ``"sigmoid"``; ``"scale"`` is
        ``1 / (n_features * X.var())``, ``"auto"`` is ``1 / n_features``.
    degree : float, default=3
        Degree of the kernel ``"poly"``.
    coef0 : float, default=1.0
        Constant of the kernels ``"poly"`` and ``"sigmoid"``.
    kernel_params : mapping, optional
        Further keyword arguments for a callable kernel.
    n_basis : int, optional
        Number of basis vectors of sparse RankRLS; by default every item is one.
    basis : {"random", "kmeans"} or array-like of int, default="random"
        Basis vectors: `n_basis` items drawn at random, `n_basis` centers of k-means, or the items with the given row
        indices.
    weighting : {"pairs", "groups"}, default="pairs"
        Whether each pair counts the same, so that large groups dominate, or each group counts the same: the mean over
        its pairs.
    random_state : int, RandomState or None, default=None
        Seed for `n_basis` items drawn at random, and for k-means.
    device : {"cpu", "cuda", "auto"}, optional
        Where to compute with PyTorch, for dense features with `n_basis`, `basis` or a linear kernel: on the processor,
        on a GPU, or on a GPU if there is one; by default without PyTorch. See :doc:`/devices`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients of the features, with a linear kernel.
    dual_coef_ : ndarray of shape (n_basis,)
        Coefficients of the basis vectors. Absent if ``route_`` is "primal" or "iterative".
    basis_ : ndarray or sparse matrix of shape (n_basis, n_features)
        The basis vectors. Absent for a precomputed kernel and if ``route_`` is "primal" or "iterative".
    basis_indices_ : ndarray of shape (n_basis,)
        Rows of the basis vectors in `X`. Absent for k-means and if ``route_`` is "primal" or "iterative".
    columns_ : ndarray of shape (n_basis,)
        Columns of a precomputed kernel that belong to the basis.
    gamma_ : float
        The value of `gamma`, for the kernels that have it.
    route_ : {"primal", "dual", "basis", "iterative"}
        How it was solved: by features, by all items, by a basis, or, for a linear kernel on sparse `X` with more than
        8192 rows and columns, by conjugate gradients.
    system_ : dict
        Arrays that `path` needs: the system of equations or, after the first call, its eigenvectors.
    n_iter_ : int
        Number of iterations of conjugate gradients; 1 for a closed form.
    gap_ : float
        Relative residual of conjugate gradients; 0 for a closed form.
    n_groups_ : int
        Number of groups that have an item with a weight.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    RankRLSCV : chooses `alpha` and the parameters of the kernel.
    KernelRidgeRanker : ranks the labels of instances with the same loss.

    Notes
    -----
    The pair of items with weights v and w has the weight v·w. With ``weighting="pairs"`` an integer weight is a number
    of copies.

    Basis vectors that depend on others, up to rounding, get the coefficient 0, with a warning. If `alpha` is below the
    rounding error of the kernel, directions without eigenvalue are left out, with a warning.

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

    columns_: npt.NDArray[np.intp]
    basis_: Any
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_CONSTRAINTS,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "n_basis": [Interval(Integral, 1, None, closed="left"), None],
        "basis": [StrOptions({"random", "kmeans"}), "array-like"],
        "weighting": [StrOptions({"pairs", "groups"})],
        "random_state": ["random_state"],
        "device": [StrOptions({"cpu", "cuda", "auto"}), None],
    }
    device: Device = None

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: str | Callable[..., Any] = "linear",
        gamma: Gamma = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Mapping[str, Any] | None = None,
        n_basis: int | None = None,
        basis: Literal["random", "kmeans"] | npt.ArrayLike = "random",
        weighting: Weighting = "pairs",
        random_state: Any = None,
        device: Device = None,
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
        self.device = device

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = "warn") -> Self:
        """Learn the scores of items.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_items, n_features)
            Items; kernel values if ``kernel="precomputed"``.
        y : array-like of shape (n_items,)
            Scores, larger is better; equal ones are tied.
        sample_weight : array-like of shape (n_items,), optional
            Weights of the items.
        groups : array-like of shape (n_items,), None or "warn"
            Group of each item: any names, in any order. None means that all items form one group, which is also the
            default, with a warning, since scikit-learn passes groups to `fit` by metadata routing only.

        Returns
        -------
        self
        """
        with refitting(self):
            X, loss, system, _ = self._prepare(X, y, sample_weight, self._groups(groups, "fit"))
            self.n_groups_ = loss.n_groups
            progress = Progress(self, X, y)
            if system is None:
                self._iterate(X, loss, progress)
            else:
                self._publish(self._solve(system))
                self.system_ = dict(vars(system))
                self.n_iter_, self.gap_ = 1, 0.0
            progress.end()
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
            For each penalty the `coef_`, for a linear kernel, or the `dual_coef_` of a fit with it.

        Examples
        --------
        >>> import numpy as np
        >>> from labelrank import RankRLS
        >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]]), np.array([1.0, 0.0, 3.0])
        >>> RankRLS().fit(X, y, groups=None).path([0.01, 1.0, 100.0]).round(2)
        array([[1.5 , 0.5 ],
               [1.29, 0.33],
               [0.08, 0.01]])
        """
        check_is_fitted(self)
        if self.route_ == "iterative":
            raise ValueError(
                "X was too large for a decomposition: this estimator was fitted by conjugate gradients, for its own "
                f"alpha={self.alpha} alone; fit once for each penalty, or pass n_basis"
            )
        alphas, system = check_candidates(alphas, "alphas"), ItemSystem(**self.system_)
        if system.gram is not None:
            system.gram = system.gram.copy()  # the decomposition overwrites it, and may fail
            if (device := self._device()) is not None:
                from labelrank.torch import least_squares

                least_squares.decompose(system, device)
        coefficients = system.path(alphas)
        self.system_ = dict(vars(system))
        if self.kernel == "linear" and self.route_ != "primal":
            coefficients = np.asarray(self.basis_.T @ coefficients)
        return np.ascontiguousarray(coefficients.T)

    def predict(self, X: Any) -> FloatArray:
        """Scores of items; only differences within a group have a meaning.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_items, n_features)
            Items; kernel values if ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_items,)
            Larger is better.
        """
        check_is_fitted(self)
        return self._scores(X, self.coef_ if self.kernel == "linear" else self.dual_coef_)

    # --- Systems

    def _checks(self) -> dict[str, Any]:
        return {"accept_sparse": False if self.kernel == "precomputed" else "csr", "dtype": np.float64, "order": "C"}

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, FloatArray, FloatArray]:
        features, y = device_features(self, X), of_tensor(y)
        if features is None:
            X, y = validate_data(self, canonical(X), y, y_numeric=True, **self._checks())
        else:
            X, (_, y) = features, check_X_y(np.zeros((len(features), 1)), y, y_numeric=True, estimator=self)
        rows = np.empty((X.shape[0], 0))
        weight = check_sample_weight(of_tensor(sample_weight), rows, dtype=np.float64, ensure_non_negative=True)
        return X, y.astype(np.float64), weight

    @property
    def _keeps_tensors(self) -> bool:
        named = isinstance(self.kernel, str) and self.kernel != "precomputed"
        by_kmeans = isinstance(self.basis, str) and self.basis == "kmeans"  # which runs on the processor
        return named and not by_kmeans

    def _prepare(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Prepared:
        """Validate, choose the route, and build its system."""
        X, y, weight = self._validate(X, y, sample_weight)
        loss = GroupedSquaredLoss(y, groups, weight, self.weighting)
        if not loss.counted.any():
            warn_no_pairs()
        kernel, listed = Kernel.of(self), check_basis(self.basis, self.n_basis, weight)
        has_route = self.n_basis is not None or listed is not None or (kernel.is_linear and X.shape[1] <= X.shape[0])
        if hasattr(X, "as_tensor") and (not has_route or self._device(kernel, X) is None):
            X = X.numpy()
        kernel = kernel.fitted(X, weight)
        if kernel.has_gamma:
            self.gamma_ = kernel.gamma
        items = X if np.array_equal(loss.order, np.arange(X.shape[0])) else X[loss.order]
        if self.n_basis is not None or listed is not None:
            self.route_ = "basis"
            gram = self._choose_basis(X, kernel, listed, np.flatnonzero(weight))
            if (device := self._device(kernel, X)) is not None:
                from labelrank.torch import least_squares

                return Prepared(
                    items, loss, *least_squares.basis_system(kernel, items, self.basis_, gram, loss, device)
                )
            if kernel.is_precomputed:
                items = items[:, self.columns_]
            system, rows = basis_system(kernel, items, getattr(self, "basis_", None), gram, loss)
            return Prepared(items, loss, system, rows)
        thin: bool = sparse.issparse(X)
        if kernel.is_linear and thin and min(X.shape) > LARGEST:
            self._device(kernel, X)  # an error if there is one
            self.route_ = "iterative"
            return Prepared(items, loss, None, None)
        if kernel.is_linear and X.shape[1] <= X.shape[0]:
            self.route_ = "primal"
            if (device := self._device(kernel, X)) is not None:
                from labelrank.torch import least_squares

                return Prepared(items, loss, *least_squares.primal_system(items, loss, device))
            return Prepared(items, loss, *primal_system(items, loss))
        self._device(kernel, X)  # an error if no basis would help
        if self.device not in (None, "auto"):
            raise ValueError(
                f"device={self.device!r} does not support the kernel matrix of all items, which kernel={self.kernel!r} "
                f"and X of shape {tuple(X.shape)} need; pass n_basis, or use device=None or 'auto'"
            )
        self.route_, self.basis_indices_ = "dual", np.arange(X.shape[0])
        if not kernel.is_precomputed:
            self.basis_ = X.copy()  # which may be the caller's
        elif X.shape[0] != X.shape[1]:
            raise ValueError(
                f"a precomputed kernel must be square, got shape {X.shape}; if its columns are basis vectors, pass "
                "their rows as basis"
            )
        elif items is not X:
            items = items[:, loss.order]
        return Prepared(items, loss, dual_system(kernel.gram(items), loss, X.shape[0]), None)

    def _choose_basis(
        self, X: Any, kernel: Kernel, listed: npt.NDArray[np.intp] | None, rows: npt.NDArray[np.intp]
    ) -> FloatArray:
        """Set the basis, the one that is listed or some of the rows that have a weight; return its kernel matrix."""
        if isinstance(self.basis, str) and self.basis == "kmeans":
            if kernel.is_precomputed:
                raise ValueError('basis="kmeans" needs features; it cannot be used with kernel="precomputed"')
            self.basis_ = kmeans_centers(X[rows], int(self.n_basis or 0), self.random_state)
            return kernel(self.basis_, self.basis_)
        drawn = draw_basis(int(self.n_basis or 0), rows, self.random_state) if listed is None else listed
        self.basis_indices_ = drawn
        if not kernel.is_precomputed:
            self.basis_ = X[drawn].numpy() if hasattr(X, "as_tensor") else X[drawn]
            return kernel(self.basis_, self.basis_)
        if X.shape[0] == X.shape[1]:
            check_symmetric(X, "a square precomputed kernel")
            self.columns_ = drawn
        elif X.shape[1] == len(drawn):
            self.columns_ = np.arange(len(drawn))
        else:
            raise ValueError(
                f"a precomputed kernel must have a column for each of the {X.shape[0]} items, or for each of the "
                f"{len(drawn)} basis vectors, got shape {X.shape}"
            )
        return np.asarray(X[drawn][:, self.columns_])

    def _iterate(self, X: Any, loss: GroupedSquaredLoss, progress: Progress) -> None:
        progress.begin(STOP.max_iter)
        state = solve_iteratively(
            X, loss, self.alpha, STOP, lambda coef, _: progress.step("iteration", lambda: {"coef_": coef})
        )
        self.coef_, self.n_iter_, self.gap_ = state.coef, state.n_iter, state.gap
        state.warn(type(self).__name__, STOP, warm_start=False)

    # --- Solutions

    def _device(self, kernel: Kernel | None = None, X: Any = None) -> Any:
        """Return the device to work on, None for NumPy."""
        device = find_device(self.device)
        if device is None or kernel is None:
            return device
        from labelrank.torch.least_squares import problem_with_kernel

        problem = problem_with_kernel(kernel, X)
        if problem is not None and self.device != "auto":
            raise ValueError(f"device={self.device!r} does not support {problem}; use device=None or 'auto'")
        return device if problem is None else None

    def _solve(self, system: ItemSystem) -> FloatArray:
        device = self._device()
        if device is None:
            return system.solve(self.alpha)
        from labelrank.torch import least_squares

        return least_squares.solve(system, self.alpha, device)

    def _publish(self, coefficients: FloatArray) -> None:
        """Set the attributes of a solution."""
        if self.route_ == "primal":
            self.coef_ = coefficients
            return
        self.dual_coef_ = coefficients
        if self.kernel == "linear":
            self.coef_ = np.asarray(self.basis_.T @ coefficients)

    def _scores(self, X: Any, coefficients: FloatArray) -> FloatArray:
        """Scores by `coef_` or `dual_coef_`, of one penalty or, in columns, of many."""
        X = validate_features(self, X, reset=False, **self._checks())
        kernel = Kernel.of(self, getattr(self, "gamma_", None))
        if kernel.is_linear:
            return np.asarray(X @ coefficients)
        if hasattr(X, "as_tensor"):
            from labelrank.torch import least_squares

            if not X.is_sparse and least_squares.problem_with_kernel(kernel, self.basis_) is None:
                return least_squares.kernel_scores(kernel, X, self.basis_, coefficients)
            X = X.numpy()
        if kernel.is_precomputed and self.route_ == "basis":
            X = X[:, self.columns_]
        return kernel.scores(X, getattr(self, "basis_", None), coefficients)

    def _path_scores(self, X: Any, alphas: FloatArray) -> FloatArray:
        """Scores of items for many penalties, in columns."""
        return self._scores(X, self.path(alphas).T)

    def _held_out(self, X: Any, y: Any, sample_weight: Any, groups: Any, alphas: FloatArray) -> FloatArray:
        """Scores of the items by the models without their groups, a column per penalty; NaN for weights of zero."""
        scores = np.full((len(y), len(alphas)), np.nan)
        system, loss, rows = self._whole(X, y, sample_weight, groups)
        scores[loss.order] = held_out_scores(system, loss, alphas, rows)
        return scores

    def _held_out_pairs(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, alphas: FloatArray
    ) -> tuple[npt.NDArray[np.intp], FloatArray]:
        """Pairs of rows within groups, and the differences of their scores by the models without the two."""
        system, loss, rows = self._whole(X, y, sample_weight, groups)
        pairs, differences = held_out_differences(system, loss, alphas, rows)
        return loss.order[pairs], differences

    def _whole(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> tuple[ItemSystem, GroupedSquaredLoss, Rows | None]:
        """The system of all items, to leave some of them out."""
        _, loss, system, rows = self._prepare(X, y, sample_weight, groups)
        if system is None:
            raise ValueError("X is too large for leaving out items in closed form; pass n_basis, or an integer as cv")
        return system, loss, rows


def warn_no_pairs() -> None:
    """Warn that there is nothing to learn from."""
    warnings.warn(
        "no group has two items with a weight, so that there is no pair to learn from: all scores will be 0",
        stacklevel=stacklevel_of_user(),
    )
