"""Log-linear label ranking: a linear score per label, learned from decomposed preference graphs."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank.decompositions import Decomposition, get_decomposition
from labelrank.losses import BaseRankerObjective, LinearObjective, LogLinearLoss
from labelrank.rankers.base import OnEmpty, RankerMixin
from labelrank.solvers import SolverState, boost, lbfgs
from labelrank.supervision import as_graphs

FloatArray = npt.NDArray[np.float64]


class LogLinearRanker(CallbackSupportMixin, RankerMixin, BaseEstimator):
    r"""Linear scores learned by boosting, or L-BFGS, on decomposed preference graphs.

    The score of label l is :math:`f_l(x) = w_l \cdot x + b_l`. Each instance's preference graph is cut into subgraphs,
    and what is minimised is

    .. math:: \sum_i \frac{w_i}{s_i} \sum_{k=1}^{s_i} \log\left(1 + \sum_{e \in E_{i,k}}
              e^{f_{\mathrm{term}(e)}(x_i) - f_{\mathrm{init}(e)}(x_i)}\right) + \frac\alpha2 \sum_l \|w_l\|^2 ,

    a convex bound of the share of subgraphs that the ranking disagrees with. With one class per instance and the
    default decomposition it is multinomial logistic regression.

    Parameters
    ----------
    decomposition : str, Decomposition or callable, default="domination"
        How the graphs are cut: ``"zero_one"``, ``"disagreement"``, ``"domination"``, ``"dominated"``, any other of
        :mod:`labelrank.decompositions`, or a function of one instance's graph.
    solver : {"boosting", "lbfgs"}, default="boosting"
        ``"boosting"`` takes small steps with a guaranteed decrease, recorded in ``bound_curve_``; ``"lbfgs"`` reaches
        the same optimum in far fewer passes over the data.
    alpha : float, default=0.0
        Strength of the penalty on the coefficients; the intercept is free. The loss is a sum over instances, so it
        compares to ``C=1 / alpha`` of :class:`sklearn.linear_model.LogisticRegression`.
    max_iter : int, default=100
        Number of iterations at most.
    tol : float, default=1e-4
        Stop when no entry of the gradient of the mean loss is larger.
    fit_intercept : bool, default=True
        Whether to add an intercept for each label, one more constant feature. Has no say with `base_rankers`, which are
        taken as they are.
    smoothing : float, default=0.0
        For boosting: added to both weights of every coefficient. With 0, a coefficient of which one weight is zero, so
        that its best step would be infinite, stays at its present value; a positive number lets it move.
    base_rankers : callable, ndarray of shape (n_samples, n_labels, n_base), or "precomputed", optional
        The general form, in which features depend on the label: the score of label l is the sum of ``coef_[j]`` times
        the value of base ranker j for the instance and l. A callable maps `X` to these values, an array holds them for
        the instances of `fit`, and with ``"precomputed"`` `X` itself is the array; in the last two cases such an array
        takes the place of `X` in `predict` too.
    warm_start : bool, default=False
        Whether `fit` goes on from the coefficients of the last call.
    n_jobs : int, optional
        Threads over blocks of rows.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows of y without any observed pair, from which nothing can be learned.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features), or (n_base,)
        Coefficients.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts.
    loss_curve_ : ndarray of shape (n_iter_ + 1,)
        What is minimised, before the first iteration and after each: natural logarithm, the sum over instances of the
        mean over subgraphs, plus the penalty.
    bound_curve_ : ndarray of shape (n_iter_,)
        The decrease that was guaranteed for each iteration of boosting; NaN for one of L-BFGS, which guarantees none.
    n_iter_ : int
        Number of iterations, those before a warm start included.
    gap_ : float
        Largest entry of the gradient of the mean loss at the end.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    An interrupted `fit` (control-C) warns and leaves an estimator with the iterations made so far; with
    ``warm_start=True`` the next `fit` goes on.

    References
    ----------
    Dekel, Manning, Singer: Log-linear models for label ranking. NIPS 16, 2003.

    Examples
    --------
    >>> from sklearn.model_selection import KFold, cross_val_score
    >>> from labelrank import LogLinearRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> ranker = LogLinearRanker(solver="lbfgs", alpha=1.0)
    >>> print(f"{cross_val_score(ranker, X, y, cv=KFold(shuffle=True, random_state=0)).mean():.2f}")
    0.97
    """

    def __init__(
        self,
        decomposition: str | Decomposition | Callable[..., Any] = "domination",
        *,
        solver: Literal["boosting", "lbfgs"] = "boosting",
        alpha: float = 0.0,
        max_iter: int = 100,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        smoothing: float = 0.0,
        base_rankers: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.decomposition = decomposition
        self.solver = solver
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.smoothing = smoothing
        self.base_rankers = base_rankers
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.on_empty = on_empty

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.base_rankers is None
        tags.input_tags.three_d_array = _takes_values(self.base_rankers)
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogLinearRanker:
        """Learn from preferences.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            What was observed: layered or not, cycles included.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the instances.

        Returns
        -------
        self
        """
        self._check_parameters()
        decomposition = get_decomposition(self.decomposition)
        X, y, weight = self._validate(X, y, sample_weight)
        loss = LogLinearLoss(as_graphs(y), decomposition, weight)
        objective = self._objective(X, loss)
        context = self._init_callback_context(max_subtasks=self.max_iter)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        state = self._solve(objective, self._start(objective), context)
        self._keep(state)
        state.warn(f"{type(self).__name__}(solver={self.solver!r})", self.max_iter, self.tol)
        context.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes={})
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; an array of shape (n_samples, n_labels, n_base) where the base rankers are given as one.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Larger is better.
        """
        check_is_fitted(self)
        if self.base_rankers is None:
            X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
            return np.asarray(X @ self.coef_.T + self.intercept_)
        base = self._base_values(X)
        if base.shape[1:] != (len(self.labels_), len(self.coef_)):
            raise ValueError(
                f"the base rankers have shape {base.shape}, expected "
                f"(n_samples, {len(self.labels_)}, {len(self.coef_)})"
            )
        return np.asarray(base @ self.coef_)

    def pairwise_proba(self, X: Any) -> FloatArray:
        """Probability that label i is before label j, given by the model for a single pair.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            ``1 / (1 + exp(f_j - f_i))``; 0.5 on the diagonal.
        """
        scores = self.decision_function(X)
        return np.asarray(expit(scores[:, :, None] - scores[:, None, :]))

    # -----------------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if self.solver not in ("boosting", "lbfgs"):
            raise ValueError(f'solver must be "boosting" or "lbfgs", got {self.solver!r}')
        for name in ("alpha", "tol", "smoothing"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Real) or not 0 <= float(value) < np.inf:
                raise ValueError(f"{name} must be a number from 0, got {value!r}")
        if not isinstance(self.max_iter, numbers.Integral) or self.max_iter < 1:
            raise ValueError(f"max_iter must be an integer from 1, got {self.max_iter!r}")
        if self.smoothing and self.solver == "lbfgs":
            raise ValueError(f'smoothing is for solver="boosting"; got smoothing={self.smoothing} with solver="lbfgs"')

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, FloatArray]:
        if self.base_rankers is None:
            checks: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}
            return self._validate_fit(X, y, sample_weight, on_empty=self.on_empty, **checks)
        given = X if callable(self.base_rankers) or _is_precomputed(self.base_rankers) else self.base_rankers
        _, y, weight = self._validate_fit(X, y, sample_weight, on_empty=self.on_empty, skip_check_array=True)
        base = self._base_values(given)
        if base.shape[:2] != y.shape:
            raise ValueError(
                f"the base rankers have shape {base.shape}, but y has {y.shape}; expected (*y.shape, n_base)"
            )
        return base, y, weight

    def _base_values(self, X: Any) -> FloatArray:
        base = np.ascontiguousarray(self.base_rankers(X) if callable(self.base_rankers) else X, dtype=np.float64)
        if base.ndim != 3:
            raise ValueError(
                f"base rankers must have values of shape (n_samples, n_labels, n_base), got shape {base.shape}"
            )
        if not np.isfinite(base).all():
            raise ValueError("the values of the base rankers contain NaN or infinity")
        return base

    def _objective(self, X: Any, loss: LogLinearLoss) -> LinearObjective | BaseRankerObjective:
        if self.base_rankers is not None:
            return BaseRankerObjective(X, loss)
        return LinearObjective(X, loss, fit_intercept=self.fit_intercept, n_jobs=self.n_jobs)

    def _start(self, objective: LinearObjective | BaseRankerObjective) -> FloatArray:
        if not (self.warm_start and hasattr(self, "coef_")):
            for name in ("loss_curve_", "bound_curve_"):
                self.__dict__.pop(name, None)
            return np.zeros(objective.coef_shape)
        old = self.coef_ if self.base_rankers is not None else self.coef_.T
        if self.base_rankers is None and self.fit_intercept:
            old = np.vstack([old, self.intercept_])
        if old.shape != objective.coef_shape:
            raise ValueError(
                f"warm_start=True goes on with coefficients for {self.coef_.shape}, but the data now need "
                f"{objective.coef_shape}; fit a new estimator"
            )
        return np.array(old, order="C")

    def _solve(self, objective: Any, start: FloatArray, context: Any) -> SolverState:
        def on_step(coef: FloatArray, value: float) -> bool:
            step = context.subcontext(task_name=f"{self.solver} iteration")
            step.call_on_fit_task_begin(estimator=self)
            return bool(step.call_on_fit_task_end(estimator=self, reconstruction_attributes=lambda: self._split(coef)))

        penalised = slice(None) if self.base_rankers is not None else slice(0, objective.n_features)
        common: dict[str, Any] = {
            "max_iter": self.max_iter,
            "tol": self.tol,
            "alpha": self.alpha,
            "penalised": penalised,
            "on_step": on_step,
        }
        if self.solver == "lbfgs":
            return lbfgs(objective, start, **common)
        return boost(objective, start, smoothing=self.smoothing, **common)

    def _split(self, coef: FloatArray) -> dict[str, FloatArray]:
        """The attributes that the coefficients of the solver stand for."""
        n_labels = len(self.labels_)
        if self.base_rankers is not None:
            return {"coef_": coef, "intercept_": np.zeros(n_labels)}
        n_features = len(coef) - bool(self.fit_intercept)
        intercept = coef[n_features].copy() if self.fit_intercept else np.zeros(n_labels)
        return {"coef_": np.ascontiguousarray(coef[:n_features].T), "intercept_": intercept}

    def _keep(self, state: SolverState) -> None:
        for name, value in self._split(state.coef).items():
            setattr(self, name, value)
        # After a warm start the curves go on; L-BFGS guarantees nothing, so its iterations have no bound.
        before = getattr(self, "loss_curve_", np.empty(0))[:-1]
        bounds = state.bound_curve[: state.n_iter] if self.solver == "boosting" else [np.nan] * state.n_iter
        old_bounds = getattr(self, "bound_curve_", np.empty(0))
        self.loss_curve_ = np.concatenate([before, state.loss_curve])
        self.bound_curve_ = np.concatenate([old_bounds, bounds])
        self.n_iter_ = len(self.loss_curve_) - 1
        self.gap_ = state.gap


def _is_precomputed(base_rankers: Any) -> bool:
    return isinstance(base_rankers, str) and base_rankers == "precomputed"


def _takes_values(base_rankers: Any) -> bool:
    """Whether an array of values takes the place of X."""
    return base_rankers is not None and not callable(base_rankers)
