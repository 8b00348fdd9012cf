"""Label ranking by kernel ridge regression on ranks, with kernels of instances and of labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_array

from labelrank._arrays import FloatArray, canonical
from labelrank._compat import Interval, StrOptions
from labelrank.losses.squared import SquaredLoss
from labelrank.models import LinearModel, Objective
from labelrank.models.gram import KERNEL_CONSTRAINTS, Gamma, Kernel, KernelModel
from labelrank.rankers.base import BaseRanker, OnEmpty, Progress, Training
from labelrank.rankers.minimizer import Device
from labelrank.solvers.base import Run, State, Stop
from labelrank.solvers.least_squares.solver import LeastSquares
from labelrank.supervision import ranks_from_scores
from labelrank.torch import find_device


class KernelRidgeRanker(BaseRanker):
    r"""Label ranking by least squares on all pairs of labels; with features of the labels, also of unseen labels.

    The score of label l for instance x is :math:`f(x, l) = \sum_{i,j} a_{ij} \, k(x, x_i) \, k'(l, l_j)`. It minimizes

    .. math:: \sum_i \frac{w_i}{k_i} \sum_{a < b} \bigl( (r_{ib} - r_{ia}) - (f(x_i, a) - f(x_i, b)) \bigr)^2
              + \alpha \|f\|^2

    over the pairs of the :math:`k_i` labels observed for instance i, with their ranks r. Without `label_features` the
    labels have nothing in common (:math:`k'` is the identity), and on complete rankings this is a kernel ridge
    regression on centered ranks for each label.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; on complete rankings that of :class:`sklearn.kernel_ridge.KernelRidge`.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        Kernel of the instances. A callable takes two matrices and returns the matrix of their kernel values; with
        ``"precomputed"``, `X` holds the kernel values with the training instances.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels ``"rbf"``, ``"poly"`` and ``"sigmoid"``; ``"scale"`` is
        ``1 / (n_features * X.var())``, ``"auto"`` is ``1 / n_features``.
    degree : float, default=3
        Degree of the kernel ``"poly"``.
    coef0 : float, default=1.0
        Constant of the kernels ``"poly"`` and ``"sigmoid"``.
    kernel_params : mapping, optional
        Further keyword arguments for a callable kernel.
    fit_intercept : bool, default=True
        Whether to add 1 to the kernel, which gives each label an intercept, under the same penalty.
    label_features : array-like of shape (n_labels, n_label_features), optional
        Features of the labels, in the order of the columns of `y`.
    label_kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        Kernel of the labels, on `label_features`. With ``"precomputed"``, `label_features` is the kernel matrix.
    label_kernel_params : mapping, optional
        ``gamma``, ``degree`` and ``coef0`` of the label kernel, or the keyword arguments of a callable.
    tol : float, default=1e-10
        Tolerance of conjugate gradients: the norm of the residual relative to that of the right-hand side.
    max_iter : int, default=1000
        Maximal number of iterations of conjugate gradients.
    device : {"cpu", "cuda", "auto"}, optional
        Where to compute with PyTorch, for complete rankings, dense features and no `label_features`: on the processor,
        on a GPU, or on a GPU if there is one; by default without PyTorch. See :doc:`/devices`.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows and labels of y without any observed pair, from which nothing can be learned.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Coefficients of the features, with a linear kernel; with label features, before the label kernel.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts; with label features, before the label kernel.
    dual_coef_ : ndarray of shape (n_samples, n_labels)
        Coefficients of the training instances, with other kernels.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        The training instances, with other kernels that are not precomputed.
    gamma_, label_gamma_ : float
        The value of `gamma` for the instances and for the labels, with kernels that have it.
    label_gram_ : ndarray of shape (n_labels, n_labels)
        Kernel matrix of the labels, with label features.
    label_features_ : ndarray of shape (n_labels, n_label_features)
        Features of the labels, unless their kernel is precomputed.
    loss_curve_ : ndarray of shape (n_iter_ + 1,)
        The objective, divided by the total weight, before the first iteration and after each.
    n_iter_ : int
        Number of iterations of conjugate gradients; 1 for a closed form.
    gap_ : float
        Relative residual at the end; 0 for a closed form.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Only the order of a ranking is used. Tied labels get the mean of their positions. If labels are missing, the rank r
    among :math:`k_i` observed of k labels is replaced by :math:`r (k + 1) / (k_i + 1)`, its expected value in a
    complete ranking if labels are missing at random. For edges (battles, cycles), which only tell which of two labels
    is better, the target difference is :math:`(k + 1) / 3`, the expected difference of two ranks, and the weight of an
    edge multiplies the squared error.

    Complete rankings have a closed form. Missing labels and edges need conjugate gradients; an interrupted `fit`
    (control-C) warns and keeps the last iterate.

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
    0.97
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRanker._parameter_constraints,
        **KERNEL_CONSTRAINTS,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "label_features": ["array-like", "sparse matrix", None],
        "label_kernel": KERNEL_CONSTRAINTS["kernel"],
        "label_kernel_params": [Mapping, None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
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
        fit_intercept: bool = True,
        label_features: npt.ArrayLike | None = None,
        label_kernel: str | Callable[..., Any] = "linear",
        label_kernel_params: Mapping[str, Any] | None = None,
        tol: float = 1e-10,
        max_iter: int = 1000,
        device: Device = None,
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
        self.device = device
        self.on_empty = on_empty

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def decision_function(self, X: Any, label_features: Any = None) -> FloatArray:
        """Scores of the labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; kernel values if ``kernel="precomputed"``.
        label_features : array-like of shape (n_new_labels, n_label_features), optional
            Labels to score, seen in training or not, in place of those of `fit`; with a precomputed label kernel, their
            kernel values with the labels of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples, n_new_labels)
            Larger is better.
        """
        X = self._check_X(X)
        kernel = Kernel.of(self, getattr(self, "gamma_", None))
        if kernel.is_linear:
            scores = np.asarray(X @ self.coef_.T)
        else:
            scores = kernel.scores(X, getattr(self, "X_fit_", None), self.dual_coef_)
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

    def _checks(self) -> dict[str, Any]:
        return {"accept_sparse": False if self.kernel == "precomputed" else "csr", "dtype": np.float64}

    @property
    def _keeps_tensors(self) -> bool:
        return self.kernel == "linear"  # with others, the training instances are a part of the model

    def _learn(self, data: Training, progress: Progress) -> None:
        kernel = Kernel.of(self).fitted(data.X, data.weight)
        progress.begin(self.max_iter)
        self._solve(data, kernel, self.alpha, lambda attributes: progress.step("iteration", attributes))

    def _solve(
        self,
        data: Training,
        kernel: Kernel,
        alpha: float,
        on_step: Callable[[Callable[[], dict[str, Any]]], bool] | None = None,
    ) -> None:
        """Minimize the objective and set the fitted attributes; `on_step` gets them after each iteration."""
        if kernel.has_gamma:
            self.gamma_ = kernel.gamma
        if not kernel.is_linear and not kernel.is_precomputed:
            self.X_fit_ = data.X.copy()  # which may be the caller's
        stop = Stop(self.max_iter, self.tol)
        step = None if on_step is None else lambda coef, _: on_step(lambda: self._attributes(kernel, coef))
        state = self._solve_on_device(data, kernel, alpha, stop, step)
        if state is None:
            if isinstance(data, Training) and hasattr(data.X, "as_tensor"):
                data = data._replace(X=data.X.numpy())
            objective = self._objective(data, kernel, alpha)
            state = LeastSquares().solve(objective, np.zeros(objective.coef_shape), stop, step)
            scale = objective.total_weight
        else:
            scale = SquaredLoss(data.graphs, sample_weight=data.weight).total_weight or 1.0
        for name, value in self._attributes(kernel, state.coef).items():
            setattr(self, name, value)
        self.loss_curve_ = np.array(state.loss_curve) / scale
        self.n_iter_, self.gap_ = state.n_iter, state.gap
        state.warn(type(self).__name__, stop, warm_start=False)

    def _solve_on_device(self, data: Training, kernel: Kernel, alpha: float, stop: Stop, step: Any) -> State | None:
        """Closed form on a device; None without one."""
        if (device := find_device(self.device)) is None:
            return None
        from labelrank.torch import least_squares

        problem = "data in partitions"
        if isinstance(data, Training):
            loss = SquaredLoss(data.graphs, sample_weight=data.weight)
            problem = least_squares.problem_with_kernel(kernel, data.X) or (
                "label_features" if self.label_features is not None else ""
            )
            if not problem and loss.is_uniform:
                with Run(np.zeros(loss.target.shape), stop, step) as run:
                    run.step(run.state.coef, float(np.vdot(loss.target, loss.target)), 1.0)
                    solve = least_squares.solve_rankings
                    run.step(*solve(kernel, data.X, loss, alpha, self.fit_intercept, device), gap=0.0)
                return run.state
        if self.device == "auto":
            return None
        raise ValueError(
            f"device={self.device!r} does not support {problem or 'incomplete rankings and edges'}; use device=None or "
            "'auto'"
        )

    def _objective(self, data: Training, kernel: Kernel, alpha: float) -> Objective:
        label_gram = self._label_gram()
        loss = SquaredLoss(data.graphs, sample_weight=data.weight)
        return Objective(self._model(kernel, data.X, label_gram), loss, alpha=2 * alpha)

    def _model(self, kernel: Kernel, X: Any, label_gram: FloatArray | None) -> LinearModel:
        n_labels = len(self.labels_)
        if not kernel.is_linear:
            gram = kernel.gram(X)
            gram += float(self.fit_intercept)
            return KernelModel(gram, n_labels, label_gram)
        if self.fit_intercept:
            ones = np.ones((X.shape[0], 1))
            thin: bool = sparse.issparse(X)
            X = sparse.hstack([X, sparse.csr_array(ones)], format="csr") if thin else np.hstack([X, ones])
        if label_gram is None:
            return LinearModel(X, n_labels, fit_intercept=False)
        return KernelModel(X, n_labels, label_gram, is_gram=False)

    def _attributes(self, kernel: Kernel, coef: FloatArray) -> dict[str, Any]:
        """Fitted attributes that hold the coefficients."""
        if not kernel.is_linear:
            return {"dual_coef_": coef, "intercept_": float(self.fit_intercept) * coef.sum(axis=0)}
        coef = np.ascontiguousarray(coef.T)
        if not self.fit_intercept:
            return {"coef_": coef, "intercept_": np.zeros(len(coef))}
        return {"coef_": coef[:, :-1].copy(), "intercept_": coef[:, -1].copy()}

    # --- Kernel of the labels

    def _label_kernel(self) -> Kernel:
        params = dict(self.label_kernel_params or {})
        if callable(self.label_kernel):
            return Kernel(self.label_kernel, params=params)
        unknown = set(params) - {"gamma", "degree", "coef0"}
        if unknown:
            raise ValueError(f"label_kernel_params has {sorted(unknown)}; the kernels take gamma, degree and coef0")
        return Kernel(self.label_kernel, **params)

    def _label_gram(self) -> FloatArray | None:
        """Kernel matrix of the labels; None is the identity."""
        kernel = self._label_kernel()
        if self.label_features is None:
            if kernel.is_precomputed:
                raise ValueError('label_kernel="precomputed" needs the kernel matrix as label_features')
            if not kernel.is_linear or self.label_kernel_params is not None:
                raise ValueError("label_kernel and label_kernel_params are for label_features, which are not given")
            return None
        features = check_array(
            canonical(self.label_features), accept_sparse="csr", dtype=np.float64, input_name="label_features"
        )
        if features.shape[0] != len(self.labels_):
            raise ValueError(f"label_features has {features.shape[0]} rows, but y has {len(self.labels_)} labels")
        kernel = kernel.fitted(features)
        if kernel.has_gamma:
            self.label_gamma_ = kernel.gamma
        if not kernel.is_precomputed:
            self.label_features_ = features.copy()
        self.label_gram_ = kernel.gram(features, "the label kernel")
        return self.label_gram_

    def _new_labels(self, label_features: Any) -> FloatArray:
        """Kernel values of new labels with those of `fit`."""
        if not hasattr(self, "label_gram_"):
            raise ValueError("to predict for new labels, the ranker must be constructed with label_features")
        features = check_array(
            canonical(label_features), accept_sparse="csr", dtype=np.float64, input_name="label_features"
        )
        known = getattr(self, "label_features_", self.label_gram_)
        if features.shape[1] != known.shape[1]:
            raise ValueError(f"label_features has {features.shape[1]} columns, expected {known.shape[1]} as in fit")
        kernel = self._label_kernel()
        return replace(kernel, gamma=getattr(self, "label_gamma_", kernel.gamma))(features, known)
