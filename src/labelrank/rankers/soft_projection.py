"""Large-margin label ranking by soft projections (SOPOPO): linear or with a kernel, in batch or online."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank import decompositions
from labelrank._compat import Interval, StrOptions, fit_context
from labelrank.decompositions import Decomposition, get_decomposition
from labelrank.losses.soft_margin import SoftMarginLoss
from labelrank.rankers.base import OnEmpty, RankerMixin, all_or_nothing
from labelrank.solvers.soft_projection.ascent import SopopoState, project_online, sopopo
from labelrank.solvers.soft_projection.models import DenseModel, GramModel, SparseModel
from labelrank.supervision import PreferenceGraphs, as_graphs, stacklevel_of_user

FloatArray = npt.NDArray[np.float64]
_BATCH = (
    "duals_",
    "dual_coef_",
    "support_",
    "support_vectors_",
    "dual_gap_",
    "objective_",
    "dual_objective_",
    "n_iter_",
    "gap_curve_",
)
_ONLINE = ("iterate_", "n_seen_")
_MANY_DUALS = 2**26  # half a GiB of 64 bits
_TINY_DUAL = 1e-25  # far from 1e-38, where numbers of 32 bits end
_SAFE_TOL = 1e-5  # rounding to 32 bits is in the way of gaps below some 1e-6


def _centred(scores: FloatArray) -> FloatArray:
    """Scores of each instance around the middle of their range: only their differences count, and keep more digits."""
    middle = 0.5 * np.fmin.reduce(scores, axis=1) + 0.5 * np.fmax.reduce(scores, axis=1)
    return scores - np.where(np.isfinite(middle), middle, 0.0)[:, np.newaxis]


def _is_named(kernel: Any, name: str) -> bool:
    return isinstance(kernel, str) and kernel == name


def _is_linear(ranker: SoftProjectionRanker) -> bool:
    if _is_named(ranker.kernel, "linear"):
        return True
    raise AttributeError(f'partial_fit needs kernel="linear", got {ranker.kernel!r}; use fit')


class SoftProjectionRanker(CallbackSupportMixin, RankerMixin, BaseEstimator):
    r"""Large-margin label ranking: every label a score, every preference a margin, solved to a certified gap.

    The score of label l is :math:`f_l(x) = w_l \cdot x + b_l`. Each instance's preference graph is cut into complete
    bipartite subgraphs :math:`A \times B`, and what is minimised is

    .. math:: \frac12 \sum_l \left(\|w_l\|^2 + b_l^2\right) + C \sum_i \sum_j \sigma_{ij}
              \max_{a \in A_{ij}, b \in B_{ij}} \left(\gamma_{ia} - \gamma_{ib} - f_a(x_i) + f_b(x_i)\right)_+ .

    With one class per instance it is the multiclass support vector machine of Crammer and Singer, with two labels a
    binary support vector machine.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss, a sum over instances, against the penalty.
    targets : {"ranks", "scores"}, default="ranks"
        What `y` is: ranks (or PreferenceGraphs), or a matrix of scores, larger is better, equal is tied, NaN is not
        known. Differences of scores are the margins.
    decomposition : str, Decomposition or callable, default="levels"
        How the graphs are cut: ``"levels"``, ``"adjacent_levels"``, ``"all_level_pairs"``, ``"domination"``,
        ``"dominated"``, ``"disagreement"``, or any other of :mod:`labelrank.decompositions` or function of your own
        whose subgraphs are complete bipartite. Graphs stored as edges have no levels; for them ``"levels"`` is
        ``"domination"``, which is the same thing for a ranking without ties.
    weighting : {"mean", "sum"}, default="mean"
        Whether the loss of an instance is the mean over its subgraphs (:math:`\sigma = 1/d` for d subgraphs) or their
        sum (:math:`\sigma = 1`); the weight of a subgraph, if it has one, is a factor of either.
    margin : {"gaps", "unit"}, default="gaps"
        The margin of a pair: how many levels, or by how many units of score, the labels are apart; or always 1, as it
        is in graphs stored as edges.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        A function of two matrices of instances that returns all inner products. Everything but ``"linear"`` keeps the
        kernel matrix of all instances in memory.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels ``"rbf"``, ``"poly"`` and ``"sigmoid"``; ``"scale"`` is
        ``1 / (n_features * X.var())``, ``"auto"`` is ``1 / n_features``.
    degree : float, default=3
        Degree of the kernel ``"poly"``.
    coef0 : float, default=0.0
        Constant of the kernels ``"poly"`` and ``"sigmoid"``.
    tol : float, default=1e-3
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int, default=1000
        Number of epochs, passes over the instances, at most.
    fit_intercept : bool, default=True
        Whether to add an intercept for each label, the coefficient of one more feature with the value 1. It is
        penalised like the others, as LIBLINEAR does; centre the features to make it matter little. With a kernel, 1 is
        added to the kernel.
    shuffle : bool, default=True
        Whether each epoch visits the instances in a new random order (short runs of neighbouring rows stay together).
    shrinking : bool, default=True
        Whether instances that have nothing to gain are left out of some epochs. The certificate covers all of them.
    warm_start : bool, default=False
        Whether `fit` goes on from the dual variables of the last call: with more iterations, a smaller `tol` or
        another `C`, on the same data.
    random_state : int, RandomState instance or None, default=None
        For `shuffle`.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows of `y` without any observed pair, from which nothing can be learned.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Coefficients, with ``kernel="linear"``.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts.
    dual_coef_ : ndarray of shape (n_labels, n_support)
        What each support instance adds to the score of each label, with a kernel.
    support_ : ndarray of shape (n_support,)
        Rows of the support instances, with a kernel.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        The support instances, with a kernel other than ``"precomputed"``.
    gamma_ : float
        The value of `gamma`, with a kernel.
    objective_, dual_objective_ : float
        What is minimised, and a bound that no coefficients can get below (if the kernel is positive semi-definite,
        which is not checked in full). Where `tol` was not reached, the coefficients are those with the smallest
        objective of all checks, a row of ``gap_curve_``.
    dual_gap_ : float
        Their difference.
    n_iter_ : int
        Number of epochs of the last `fit`.
    gap_curve_ : ndarray of shape (n_checks, 4)
        Epochs so far, seconds since the start, objective and dual objective, each time they were computed.
    duals_ : ndarray
        The dual variables of all subgraphs, for a warm start; with ``warm_start=True``, and where `fit` stopped early.
        As precise as `X`: of 32 bits for such an `X`, in half the memory, with gaps down to some 1e-6. From 2**26
        (67 million) of them on they are of 32 bits for any `X`, unless `tol` is below 1e-5.
    iterate_ : ndarray of shape (n_labels, n_features + 1)
        The last iterate of `partial_fit`, intercepts last; ``coef_`` and ``intercept_`` are the mean of all.
    n_seen_ : int
        Number of instances seen by `partial_fit`.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    An interrupted `fit` (control-C) warns and leaves an estimator with the epochs made so far, duals included; with
    ``warm_start=True`` the next `fit` goes on.

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
    >>> bool(ranker.fit(X, y).dual_gap_ <= 1e-3 * ranker.objective_)
    True
    """

    coef_: FloatArray
    intercept_: FloatArray
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "targets": [StrOptions({"ranks", "scores"})],
        "decomposition": [str, Decomposition, callable],
        "weighting": [StrOptions({"mean", "sum"})],
        "margin": [StrOptions({"gaps", "unit"})],
        "kernel": [StrOptions({"linear", "rbf", "poly", "sigmoid", "precomputed"}), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="left")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "fit_intercept": ["boolean"],
        "shuffle": ["boolean"],
        "shrinking": ["boolean"],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "on_empty": [StrOptions({"warn", "error", "ignore"})],
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
        coef0: float = 0.0,
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
        precomputed = _is_named(self.kernel, "precomputed")
        tags.input_tags.sparse = not precomputed
        tags.input_tags.pairwise = precomputed
        tags.non_deterministic = True  # within tol, what is found depends on the order of the rows
        return tags

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SoftProjectionRanker:
        """Learn from preferences, to a duality gap.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; the kernel matrix of shape (n_samples, n_samples) with ``kernel="precomputed"``.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels), or score matrix
            What was observed; see `targets`. Of ranks only the order within a row counts.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the instances.

        Returns
        -------
        self
        """
        X, loss = self._validate_margins(X, y, sample_weight)
        model = self._model(X, loss.shape[1])
        duals = self._start(loss, self._dual_dtype(loss, model, X.dtype))
        for name in (*_BATCH, *_ONLINE, "coef_", "intercept_"):
            self.__dict__.pop(name, None)
        context = self._init_callback_context(max_subtasks=self.max_iter)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        state = sopopo(
            model,
            loss,
            self.C,
            duals=duals,
            tol=self.tol,
            max_iter=self.max_iter,
            rng=check_random_state(self.random_state),
            shuffle=self.shuffle,
            shrinking=self.shrinking,
            on_epoch=self._watch(context, X, model, loss, duals),
        )
        self._keep(state)
        for name, value in self._learned(X, model, state.weights).items():
            setattr(self, name, value)
        context.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes={})
        state.warn(type(self).__name__, self.max_iter, self.tol)
        if getattr(model, "indefinite", False):
            warnings.warn(
                f"the kernel matrix is not positive semi-definite (kernel={self.kernel!r}), so that the objective has "
                "several optima and the duality gap says nothing about the best of them; use another kernel",
                stacklevel=stacklevel_of_user(),
            )
        return self

    @available_if(_is_linear)
    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> SoftProjectionRanker:
        """Learn online: project the scores once for each instance, in order, and forget it.

        Coefficients become the mean of the iterates after each instance seen so far. After `fit`, it goes on from the
        coefficients found there.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels), or score matrix
            What was observed.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the instances: factors of `C`. Instances of weight 0 are not seen.

        Returns
        -------
        self
        """
        first = not hasattr(self, "coef_")
        X, loss = self._validate_margins(X, y, sample_weight, reset=first)
        for name in (*_BATCH, "gamma_"):
            self.__dict__.pop(name, None)
        shape = (loss.shape[1], X.shape[1] + 1)
        mean = np.zeros(shape) if first else np.column_stack([self.coef_, self.intercept_])
        iterate, seen = getattr(self, "iterate_", mean), getattr(self, "n_seen_", 0)
        self.iterate_, mean, self.n_seen_ = project_online(
            X, loss, self.C, float(self.fit_intercept), np.array(iterate), mean, seen
        )
        self.coef_, self.intercept_ = np.ascontiguousarray(mean[:, :-1]), mean[:, -1].copy()
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels.

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
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        if hasattr(self, "coef_"):
            return np.asarray(X @ self.coef_.T + self.intercept_)
        if _is_named(self.kernel, "precomputed"):
            return np.asarray(X[:, self.support_] @ self.dual_coef_.T + self.intercept_)
        if not len(self.support_):
            return np.tile(self.intercept_, (X.shape[0], 1))
        return np.asarray(self._kernel(X, self.support_vectors_) @ self.dual_coef_.T + self.intercept_)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean Kendall tau over the observed pairs; see :func:`labelrank.metrics.kendall_tau`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels), or score matrix
            What was observed; with ``targets="scores"`` a matrix holds scores.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the instances.

        Returns
        -------
        float
            From -1 to 1.
        """
        if self.targets == "scores" and not isinstance(y, PreferenceGraphs):
            y = PreferenceGraphs.from_scores(y)
        return super().score(X, y, sample_weight)

    # -----------------------------------------------------------------------------------------------------------

    def _validate_margins(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> tuple[Any, SoftMarginLoss]:
        """Check the arguments of fit; the instances, and the loss of their margins."""
        decomposition = get_decomposition(self.decomposition)
        if self.targets == "scores" and isinstance(y, PreferenceGraphs):
            raise ValueError('targets="scores" needs a score matrix, and graphs have none; use targets="ranks"')
        precomputed = _is_named(self.kernel, "precomputed")
        old = getattr(self, "labels_", None) if self.warm_start or not reset else None
        X, y, weight = self._validate_fit(
            X,
            y,
            sample_weight,
            on_empty=self.on_empty,
            accept_sparse=False if precomputed else "csr",
            dtype=[np.float64, np.float32],
            order="C",
            reset=reset,
        )
        if self.targets == "scores":
            y = y.rank_values()
        if old is not None and not np.array_equal(old, self.labels_):
            new, self.labels_ = self.labels_, old
            raise ValueError(
                f"{type(self).__name__} goes on with the labels {list(old)}, but y has {list(new)}; give them in the "
                "same order, or fit a new estimator"
            )
        thin: bool = sparse.issparse(X)
        if thin and not X.has_canonical_format:  # the square of an entry is not the sum of the squares of its parts
            X = X.copy()
            X.sum_duplicates()
        graphs = PreferenceGraphs.from_scores(y) if self.targets == "scores" else as_graphs(y)
        targets = None
        if graphs.storage == "edges":
            decomposition = decompositions.domination if decomposition is decompositions.levels else decomposition
        elif self.margin == "gaps":
            targets = _centred(y) if self.targets == "scores" else -graphs.levels
        return X, SoftMarginLoss(graphs, decomposition, weight, targets, self.weighting)

    def _dual_dtype(self, loss: SoftMarginLoss, model: Any, dtype: Any) -> Any:
        """As precise as X, but of 32 bits where they are very many and such numbers reach `tol` by far."""
        if loss.n_duals >= _MANY_DUALS and self.tol >= _SAFE_TOL:
            dtype = np.dtype(np.float32)
        # Duals are at most C times a weight, and about one over a squared norm.
        most = self.C * loss.weight.max(initial=0.0)
        least = min(most, 1.0 / max(model.norm.max(initial=0.0), 1.0))
        return dtype if least > _TINY_DUAL and most < 1.0 / _TINY_DUAL else np.dtype(np.float64)

    def _start(self, loss: SoftMarginLoss, dtype: Any) -> npt.NDArray[Any]:
        """Zeros, or the duals of the last fit for a warm start."""
        if not (self.warm_start and hasattr(self, "duals_")):
            return np.zeros(loss.n_duals, dtype=dtype)
        if len(self.duals_) != loss.n_duals:
            raise ValueError(
                f"warm_start=True goes on with {len(self.duals_)} dual variables, but the data now have "
                f"{loss.n_duals}; fit a new estimator"
            )
        return self.duals_.astype(dtype)

    def _model(self, X: Any, n_labels: int) -> Any:
        constant = float(self.fit_intercept)
        self.__dict__.pop("gamma_", None)
        if _is_named(self.kernel, "linear"):
            return (SparseModel if sparse.issparse(X) else DenseModel)(X, constant, n_labels)
        self.gamma_ = self._gamma_of(X)
        gram = self._kernel(X, X) + constant
        if not np.isfinite(gram).all():
            raise ValueError(f"the kernel matrix has NaN or infinite entries; scale X, or check kernel={self.kernel!r}")
        unequal = float(np.abs(gram - gram.T).max(initial=0.0)) > 1e-7 * float(np.abs(gram).max(initial=0.0))
        if unequal or (np.diagonal(gram) < 0).any():
            raise ValueError(
                "the kernel matrix is not symmetric with a diagonal from 0, so it holds no inner products; "
                f"check kernel={self.kernel!r}"
            )
        return GramModel(np.ascontiguousarray(gram, dtype=np.float64), n_labels)

    def _gamma_of(self, X: Any) -> float:
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        if self.gamma == "auto":
            return 1.0 / X.shape[1]
        var = float(X.multiply(X).mean() - X.mean() ** 2 if hasattr(X, "multiply") else X.var())
        return 1.0 / (X.shape[1] * var) if var > 0 else 1.0

    def _kernel(self, X: Any, Y: Any) -> Any:
        """Inner products of the rows of X and Y."""
        if not callable(self.kernel):
            if _is_named(self.kernel, "precomputed"):
                if X.shape[0] != X.shape[1]:
                    raise ValueError(
                        f'kernel="precomputed" needs the kernel matrix of all instances as X, got shape {X.shape}'
                    )
                return X
            params = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
            return pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, **params)
        gram = np.asarray(self.kernel(X, Y), dtype=np.float64)
        if gram.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"kernel must return a matrix of shape {(X.shape[0], Y.shape[0])} for so many instances, got shape "
                f"{gram.shape}"
            )
        return gram

    def _learned(self, X: Any, model: Any, weights: tuple[FloatArray, ...]) -> dict[str, Any]:
        """The attributes that scores are made of."""
        if not isinstance(model, GramModel):
            return {"coef_": weights[0], "intercept_": model.constant * weights[1]}
        held = weights[0]
        support = np.flatnonzero(held.any(axis=1))
        learned = {
            "dual_coef_": np.ascontiguousarray(held[support].T),
            "support_": support,
            "intercept_": float(self.fit_intercept) * held.sum(axis=0),
        }
        if not _is_named(self.kernel, "precomputed"):
            learned["support_vectors_"] = X[support]
        return learned

    def _watch(self, context: Any, X: Any, model: Any, loss: SoftMarginLoss, duals: npt.NDArray[Any]) -> Any:
        """Tells the callbacks of every epoch; True when one of them wants to stop."""

        def on_epoch() -> bool:
            epoch = context.subcontext(task_name="epoch")
            epoch.call_on_fit_task_begin(estimator=self)
            return bool(
                epoch.call_on_fit_task_end(
                    estimator=self,
                    reconstruction_attributes=lambda: self._learned(X, model, model.weights(loss, duals)),
                )
            )

        return on_epoch

    def _keep(self, state: SopopoState) -> None:
        self.objective_, self.dual_objective_, self.dual_gap_ = state.primal, state.dual, state.gap
        self.n_iter_ = state.n_iter
        self.gap_curve_ = np.array(state.curve)
        if self.warm_start or not state.converged:
            self.duals_ = state.duals
