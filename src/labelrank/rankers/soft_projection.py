"""Large-margin label ranking by soft projections: linear or with a kernel, in batch or online."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from sklearn.utils.metaestimators import available_if

from labelrank._arrays import FloatArray
from labelrank._compat import Interval, StrOptions, fit_context
from labelrank.decompositions import Decomposition
from labelrank.losses.soft_margin import SoftMarginLoss
from labelrank.models import LinearModel, Model, Objective
from labelrank.models.gram import KERNEL_CONSTRAINTS, Kernel
from labelrank.rankers.base import BaseRanker, OnEmpty, Progress, refitting
from labelrank.solvers import SoftProjection, Stop
from labelrank.solvers.soft_projection.models import GramModel
from labelrank.solvers.soft_projection.online import project_online
from labelrank.supervision import PreferenceGraphs, is_graphs, stacklevel_of_user

_SOLUTION = ("coef_", "intercept_", "dual_coef_", "support_", "support_vectors_", "gamma_")
_BATCH = ("duals_", "gap_", "objective_", "dual_objective_", "n_iter_", "loss_curve_", "gap_curve_")
_ONLINE = ("iterate_", "n_seen_")


def _is_linear(ranker: SoftProjectionRanker) -> bool:
    if ranker._has_kernel("linear"):
        return True
    raise AttributeError(f'partial_fit needs kernel="linear", got {ranker.kernel!r}; use fit')


class _Problem(NamedTuple):
    """Validated arguments of ``fit``."""

    X: Any  # ndarray or CSR matrix of shape (n_samples, n_features)
    loss: SoftMarginLoss


class SoftProjectionRanker(BaseRanker):
    r"""Large-margin label ranking, solved to a certified duality gap by soft projections (SOPOPO).

    The score of label l is :math:`f_l(x) = w_l \cdot x + b_l`. Each instance's preference graph is cut into complete
    bipartite subgraphs :math:`A \times B`, and the objective is

    .. math:: \frac12 \sum_l \left(\|w_l\|^2 + b_l^2\right) + C \sum_i \sum_j \sigma_{ij}
              \max_{a \in A_{ij}, b \in B_{ij}} \left(\gamma_{ia} - \gamma_{ib} - f_a(x_i) + f_b(x_i)\right)_+ .

    With one class per instance it is the multiclass support vector machine of Crammer and Singer, with two labels a
    binary support vector machine.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss, a sum over instances, relative to the penalty.
    targets : {"ranks", "scores"}, default="ranks"
        Meaning of `y`: ranks (or PreferenceGraphs), or a matrix of scores, larger is better, equal is tied, NaN is not
        observed. Differences of scores are the margins.
    decomposition : str, Decomposition or callable, default="levels"
        How the graphs are cut: ``"levels"``, ``"adjacent_levels"``, ``"all_level_pairs"``, ``"domination"``,
        ``"dominated"``, ``"disagreement"``, or any other of :mod:`labelrank.decompositions` or function of your own
        whose subgraphs are complete bipartite. Graphs stored as edges have no levels; for them ``"levels"`` is
        ``"domination"``, which is equivalent for a ranking without ties.
    weighting : {"mean", "sum"}, default="mean"
        Whether the loss of an instance is the mean over its d subgraphs (:math:`\sigma = 1/d`) or their sum
        (:math:`\sigma = 1`). The weight of a subgraph, if it has one, is a factor of either.
    margin : {"gaps", "unit"}, default="gaps"
        The margin of a pair: the difference of their levels or scores, or always 1. It is always 1 in graphs stored as
        edges.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        A callable takes two matrices of instances and returns their inner products. All kernels but ``"linear"`` keep
        the kernel matrix of all instances in memory.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels ``"rbf"``, ``"poly"`` and ``"sigmoid"``; ``"scale"`` is
        ``1 / (n_features * X.var())``, ``"auto"`` is ``1 / n_features``.
    degree : float, default=3
        Degree of the kernel ``"poly"``.
    coef0 : float, default=1.0
        Constant of the kernels ``"poly"`` and ``"sigmoid"``.
    tol : float, default=1e-3
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int, default=1000
        Largest number of epochs, passes over the instances.
    fit_intercept : bool, default=True
        Whether to add an intercept for each label, the coefficient of one more feature with the value 1. It is
        penalized like the others, as in LIBLINEAR; center the features to reduce the effect. With a kernel, 1 is
        added to the kernel.
    shuffle : bool, default=True
        Whether each epoch visits the instances in a new random order (short runs of neighboring rows stay together).
    shrinking : bool, default=True
        Whether epochs may skip instances with nothing to gain. The duality gap covers all instances.
    warm_start : bool, default=False
        Whether `fit` continues from the dual variables of the last call: with more iterations, a smaller `tol` or
        another `C`, on the same data.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows and labels of `y` without any observed pair, from which nothing can be learned.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Coefficients, with ``kernel="linear"``.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts.
    dual_coef_ : ndarray of shape (n_labels, n_support)
        Contribution of each support instance to the score of each label, with another kernel.
    support_ : ndarray of shape (n_support,)
        Rows of the support instances, with another kernel.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        The support instances, with a kernel that is neither ``"linear"`` nor ``"precomputed"``.
    gamma_ : float
        The value of `gamma`, with a kernel that has one.
    objective_, dual_objective_ : float
        The objective, and a lower bound for any coefficients (if the kernel is positive semi-definite, which is not
        checked in full). If `tol` was not reached, the coefficients are those with the smallest objective of all rows
        of ``gap_curve_``.
    gap_ : float
        Their relative difference, what `tol` is compared with.
    n_iter_ : int
        Number of epochs of the last `fit`.
    loss_curve_ : ndarray of shape (n_iter_ + 1,)
        The objective over `C`, a mean over instances, before the first epoch and after each. It is computed at least
        every tenth epoch and repeats the last value in between.
    gap_curve_ : ndarray of shape (n_checks, 4)
        Epochs so far, seconds since the start, objective and dual objective, each time they were computed.
    duals_ : ndarray
        The dual variables of all subgraphs, for a warm start; with ``warm_start=True``, or if `fit` stopped early. If
        there are 2**26 (67 million) or more, they are stored in 32 bits, which limits the gap to about 1e-6, unless
        `tol` is below 1e-5.
    iterate_ : ndarray of shape (n_labels, n_features + 1)
        The last iterate of `partial_fit`, intercepts last; ``coef_`` and ``intercept_`` are the mean of all iterates.
    n_seen_ : int
        Number of instances seen by `partial_fit`.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    An interrupted `fit` (control-C) warns and leaves an estimator that is fitted with the epochs so far, its dual
    variables included; with ``warm_start=True`` the next `fit` continues.

    References
    ----------
    Shalev-Shwartz, Singer: Efficient learning of label ranking by soft projections onto polyhedra. JMLR 7, 2006.

    Examples
    --------
    >>> from sklearn.model_selection import KFold, cross_val_score
    >>> from labelrank import SoftProjectionRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> ranker = SoftProjectionRanker(C=1.0, random_state=0)
    >>> print(f"{cross_val_score(ranker, X, y, cv=KFold(shuffle=True, random_state=0)).mean():.2f}")
    0.96
    >>> ranker.fit(X, y).gap_ <= 1e-3
    True
    """

    coef_: FloatArray
    intercept_: FloatArray
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRanker._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "targets": [StrOptions({"ranks", "scores"})],
        "decomposition": [str, Decomposition, callable],
        "weighting": [StrOptions({"mean", "sum"})],
        "margin": [StrOptions({"gaps", "unit"})],
        **{name: KERNEL_CONSTRAINTS[name] for name in ("kernel", "gamma", "degree", "coef0")},
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "fit_intercept": ["boolean"],
        "shuffle": ["boolean"],
        "shrinking": ["boolean"],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        targets: Literal["ranks", "scores"] = "ranks",
        decomposition: str | Decomposition | Callable[..., Any] = "levels",
        weighting: Literal["mean", "sum"] = "mean",
        margin: Literal["gaps", "unit"] = "gaps",
        kernel: str | Callable[..., Any] = "linear",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        shuffle: bool = True,
        shrinking: bool = True,
        warm_start: bool = False,
        random_state: Any = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.C = C
        self.targets = targets
        self.decomposition = decomposition
        self.weighting = weighting
        self.margin = margin
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.shrinking = shrinking
        self.warm_start = warm_start
        self.random_state = random_state
        self.on_empty = on_empty

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = self._has_kernel("precomputed")
        tags.input_tags.sparse = not precomputed
        tags.input_tags.pairwise = precomputed
        tags.non_deterministic = True  # within tol, the result depends on the order of the rows
        return tags

    @available_if(_is_linear)
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> SoftProjectionRanker:
        """Update the model online, visiting each instance once, in the order of the rows.

        Coefficients become the mean of the iterates after each instance seen so far. After `fit`, it continues from the
        coefficients found there.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels), or score matrix
            Observed preferences.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the instances: factors of `C`. Instances of weight 0 are not seen.

        Returns
        -------
        self
        """
        with refitting(self, keep=True):
            first, old = not hasattr(self, "coef_"), getattr(self, "labels_", None)
            X, loss = self._validate(X, y, sample_weight, reset=first)
            if old is not None and not np.array_equal(old, self.labels_):
                raise ValueError(
                    f"partial_fit continues with the labels {old.tolist()}, but y has {self.labels_.tolist()}; give "
                    "them in the same order, or fit a new estimator"
                )
            self._forget(_BATCH)
            model = LinearModel(X, loss.shape[1], fit_intercept=self.fit_intercept)
            shape = (loss.shape[1], X.shape[1] + 1)
            mean = np.zeros(shape) if first else np.column_stack([self.coef_, self.intercept_])
            iterate, seen = getattr(self, "iterate_", mean), getattr(self, "n_seen_", 0)
            self.iterate_, mean, self.n_seen_ = project_online(model, loss, self.C, iterate, mean, seen)
            self.coef_, self.intercept_ = np.ascontiguousarray(mean[:, :-1]), mean[:, -1].copy()
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores of the labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; with ``kernel="precomputed"``, their kernel values with those of `fit`, of shape
            (n_samples, n_samples_fit).

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Larger is better.
        """
        X = self._check_X(X)
        if hasattr(self, "coef_"):
            return np.asarray(X @ self.coef_.T + self.intercept_)
        kernel = Kernel.of(self, getattr(self, "gamma_", None))
        if kernel.is_precomputed:
            return np.asarray(X[:, self.support_] @ self.dual_coef_.T + self.intercept_)
        return kernel.scores(X, self.support_vectors_, self.dual_coef_.T) + self.intercept_

    def _preferences_of(self, y: Any) -> Any:
        return PreferenceGraphs.from_scores(y) if self.targets == "scores" and not is_graphs(y) else y

    # -----------------------------------------------------------------------------------------------------------

    def _checks(self) -> dict[str, Any]:
        thin = False if self._has_kernel("precomputed") else "csr"
        return {"accept_sparse": thin, "dtype": [np.float64, np.float32], "order": "C"}

    def _has_kernel(self, name: str) -> bool:
        return isinstance(self.kernel, str) and self.kernel == name

    def _validate(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> Any:
        """Validate the arguments of ``fit``; returns the instances, and the loss of their margins."""
        X, graphs, weight = self._validate_fit(
            X, y, sample_weight, on_empty=self.on_empty, reset=reset, **self._checks()
        )
        targets = None
        if self.targets == "scores":
            if graphs is y:
                raise ValueError('targets="scores" needs a score matrix, got PreferenceGraphs; use targets="ranks"')
            scores = graphs.rank_values()
            graphs = PreferenceGraphs.from_scores(scores)
            targets = _centered(scores) if self.margin == "gaps" else None
        loss = SoftMarginLoss(
            graphs, self.decomposition, weight, margin=self.margin, weighting=self.weighting, targets=targets
        )
        return _Problem(X, loss)

    def _learn(self, data: Any, progress: Progress) -> None:
        X, loss = data
        duals = getattr(self, "duals_", None) if self.warm_start else None
        self._forget((*_SOLUTION, *_BATCH, *_ONLINE))
        model = self._model(X, loss)
        objective, stop = Objective(model, loss, alpha=1.0 / self.C), Stop(self.max_iter, self.tol)
        solver = SoftProjection(self.shuffle, self.shrinking, self.random_state, duals)
        progress.begin(self.max_iter)
        state: Any = solver.solve(
            objective,
            np.zeros(model.coef_shape),
            stop,
            lambda coef, value: progress.step("epoch", lambda: model.attributes(coef)),
        )
        self.__dict__.update(model.attributes(state.coef))
        self.objective_, self.dual_objective_, self.gap_ = state.primal, state.dual, state.gap
        self.n_iter_, self.gap_curve_ = state.n_iter, np.array(state.gap_curve)
        self.loss_curve_ = np.array(state.loss_curve) / objective.total_weight
        if self.warm_start or not state.certified:
            self.duals_ = state.duals
        state.warn(type(self).__name__, stop)
        if state.indefinite:
            warnings.warn(
                f"the kernel matrix is not positive semi-definite (kernel={self.kernel!r}), so the objective is "
                "not convex and the duality gap does not bound its distance to the minimum; use another kernel",
                stacklevel=stacklevel_of_user(),
            )

    def _model(self, X: Any, loss: SoftMarginLoss) -> Model:
        if self._has_kernel("linear"):
            return LinearModel(X, loss.shape[1], fit_intercept=self.fit_intercept)
        kernel = Kernel.of(self).fitted(X, loss.weight)
        return GramModel(X, kernel, loss.shape[1], fit_intercept=self.fit_intercept)

    def _forget(self, names: tuple[str, ...]) -> None:
        for name in names:
            self.__dict__.pop(name, None)


def _centered(scores: FloatArray) -> FloatArray:
    """Center the scores of each instance in their range: only differences count, and then they keep more digits."""
    middle = 0.5 * np.fmin.reduce(scores, axis=1) + 0.5 * np.fmax.reduce(scores, axis=1)
    return scores - np.where(np.isfinite(middle), middle, 0.0)[:, np.newaxis]
