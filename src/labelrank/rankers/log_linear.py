"""Log-linear label ranking: a linear score per label, learned from decomposed preference graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank.decompositions import Decomposition, get_decomposition
from labelrank.losses import BaseRankerObjective, LinearObjective, LogLinearLoss
from labelrank.rankers.base import OnEmpty, RankerMixin, all_or_nothing, report_empty_rows
from labelrank.rankers.linear import FloatArray, IterativeLinearMixin, Solver, check_switch
from labelrank.solvers import SolverState, boost, lbfgs
from labelrank.supervision import PreferenceGraphs, as_graphs


class LogLinearRanker(IterativeLinearMixin, RankerMixin, BaseEstimator):
    r"""Linear scores learned by boosting, or L-BFGS, on decomposed preference graphs.

    The score of label l is :math:`f_l(x) = w_l \cdot x + b_l`. Each instance's preference graph is cut into subgraphs,
    and what is minimised is

    .. math:: \sum_i \frac{w_i}{\sum_k \sigma_{i,k}} \sum_k \sigma_{i,k} \log\left(1 + \sum_{e \in E_{i,k}}
              e^{f_{\mathrm{term}(e)}(x_i) - f_{\mathrm{init}(e)}(x_i)}\right) + \frac\alpha2 \sum_l \|w_l\|^2 ,

    a convex bound of the share of subgraphs that the ranking disagrees with. With one class per instance and the
    default decomposition it is multinomial logistic regression. The weight of a subgraph, :math:`\sigma_{i,k}`, is the
    mean of the weights of its edges (1 where they have none) times what the decomposition gives it. The weight of an
    edge counts against the other edges of its instance; the weight of an instance, :math:`w_i`, is `sample_weight`.

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
        Stop when no entry of the gradient of the mean loss is larger; with boosting, of the coefficients that can move.
    fit_intercept : bool, default=True
        Whether to add an intercept for each label, one more constant feature. Has no say with `base_rankers`, which are
        taken as they are.
    smoothing : float, default=0.0
        For boosting: added to both weights of every coefficient. With 0, a coefficient of which one weight is zero, so
        that its best step would be infinite, stays at its present value, and a warning counts such coefficients at the
        end; a positive number lets them move.
    base_rankers : callable, ndarray of shape (n_samples, n_labels, n_base), or "precomputed", optional
        The general form, in which features depend on the label: the score of label l is the sum of ``coef_[j]`` times
        the value of base ranker j for the instance and l. A callable maps `X` to these values, an array holds them for
        the instances of `fit`, and with ``"precomputed"`` `X` itself is the array; in the last two cases such an array
        takes the place of `X` in `predict` too.
    calibrated : bool, default=False
        Whether to learn a cut along with the ranking, from sets of relevant labels: a dummy label is ranked below the
        relevant and above the other labels. Scores are then differences to its score, and `predict_relevant` gives the
        labels above it.
    warm_start : bool, default=False
        Whether `fit` goes on from the coefficients of the last call.
    n_jobs : int, optional
        Threads over blocks of rows; not used with `base_rankers`.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows of y without any observed pair, from which nothing can be learned.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features), or (n_base,)
        Coefficients.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts.
    dummy_coef_ : ndarray of shape (n_features,)
        With ``calibrated=True``: the coefficients of the dummy label, which have been subtracted from those of the
        labels. No score needs them; a warm start does, since the penalty is on what was there before.
    dummy_intercept_ : float
        With ``calibrated=True``: the intercept of the dummy label, likewise.
    loss_curve_ : ndarray of shape (n_iter_ + 1,)
        What is minimised, before the first iteration and after each: natural logarithm, the sum over instances of the
        (weighted) mean over subgraphs, plus the penalty.
    bound_curve_ : ndarray of shape (n_iter_,)
        The decrease that was guaranteed for each iteration of boosting; NaN for one of L-BFGS, which guarantees none.
    n_iter_ : int
        Number of iterations; those before a warm start are included where what is minimised has stayed the same.
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
        solver: Solver = "boosting",
        alpha: float = 0.0,
        max_iter: int = 100,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        smoothing: float = 0.0,
        base_rankers: Any = None,
        calibrated: bool = False,
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
        self.calibrated = calibrated
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.on_empty = on_empty

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.base_rankers is None
        tags.input_tags.three_d_array = _takes_values(self.base_rankers)
        return tags

    @with_callbacks
    @all_or_nothing
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
        self._check_solver()
        check_switch("calibrated", self.calibrated)
        if isinstance(self.base_rankers, str) and not _is_precomputed(self.base_rankers):
            raise ValueError(f'base_rankers must be a callable, an array or "precomputed", got {self.base_rankers!r}')
        old_labels = getattr(self, "labels_", None) if self.warm_start else None
        if self.calibrated and self.base_rankers is not None:
            raise ValueError("calibrated=True needs features of the instance alone; it does not go with base_rankers")
        decomposition = get_decomposition(self.decomposition)
        X, y, weight = self._validate(X, y, sample_weight)
        self._check_same_labels(old_labels, self.labels_)
        graphs = as_graphs(y)
        if self.calibrated:  # with the dummy, a row of relevant labels alone has pairs as well
            graphs = _with_learned_dummy(graphs)
            report_empty_rows(graphs, weight, self.on_empty)
        loss = LogLinearLoss(graphs, decomposition, weight)
        objective = self._objective(X, loss)
        start = self._start(objective.coef_shape)
        for name in ("dummy_coef_", "dummy_intercept_"):  # they are there if and only if a cut is learned
            self.__dict__.pop(name, None)
        context = self._init_callback_context(max_subtasks=self.max_iter)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        self._keep(self._solve(objective, start, context))
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

    def predict_relevant(self, X: Any) -> npt.NDArray[np.bool_]:
        """The labels ranked above the dummy; needs a fit with ``calibrated=True``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        bool ndarray of shape (n_samples, n_labels)
        """
        check_is_fitted(self)
        if not hasattr(self, "dummy_coef_"):
            raise AttributeError("predict_relevant needs a cut, which is learned by fit with calibrated=True")
        return self.decision_function(X) > 0

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

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, FloatArray]:
        on_empty: OnEmpty = "ignore" if self.calibrated else self.on_empty
        if self.base_rankers is None:
            checks: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}
            return self._validate_fit(X, y, sample_weight, on_empty=on_empty, **checks)
        given = X if callable(self.base_rankers) or _is_precomputed(self.base_rankers) else self.base_rankers
        _, y, weight = self._validate_fit(X, y, sample_weight, on_empty=on_empty, skip_check_array=True)
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

    def _joined(self) -> FloatArray:
        if self.base_rankers is not None or self.coef_.ndim == 1:
            return self.coef_
        coef, intercept = self.coef_.T, self.intercept_
        if self.calibrated:  # from differences to the dummy back to what the solver had
            dummy = getattr(self, "dummy_coef_", np.zeros(len(coef)))[:, None]
            dummy_intercept = getattr(self, "dummy_intercept_", 0.0)
            coef = np.hstack([coef + dummy, dummy])
            intercept = np.append(intercept + dummy_intercept, dummy_intercept)
        return np.vstack([coef, intercept]) if self.fit_intercept else coef

    def _solve(self, objective: Any, start: FloatArray, context: Any) -> SolverState:
        penalised = slice(None) if self.base_rankers is not None else slice(0, objective.n_features)
        common: dict[str, Any] = {
            "max_iter": self.max_iter,
            "tol": self.tol,
            "alpha": self.alpha,
            "penalised": penalised,
            "on_step": self._watch(context),
        }
        if self.solver == "lbfgs":
            return lbfgs(objective, start, **common)
        return boost(objective, start, smoothing=self.smoothing, **common)

    def _split(self, coef: FloatArray) -> dict[str, Any]:
        if self.base_rankers is not None:
            return {"coef_": coef, "intercept_": np.zeros(len(self.labels_))}
        n_features = len(coef) - bool(self.fit_intercept)
        of_dummy: dict[str, Any] = {}
        if self.calibrated:
            coef, dummy = coef[:, :-1] - coef[:, -1:], coef[:, -1]
            of_dummy["dummy_coef_"] = dummy[:n_features].copy()
            of_dummy["dummy_intercept_"] = float(dummy[n_features]) if self.fit_intercept else 0.0
        intercept = coef[n_features].copy() if self.fit_intercept else np.zeros(len(self.labels_))
        return {"coef_": np.ascontiguousarray(coef[:n_features].T), "intercept_": intercept, **of_dummy}


def _with_learned_dummy(graphs: PreferenceGraphs) -> PreferenceGraphs:
    """Relevant labels above a dummy, the last label, and the dummy above the others: three levels."""
    levels = graphs.to_levels().levels
    if levels.size and levels.max() > 1:
        row = int(np.flatnonzero((levels > 1).any(axis=1))[0])
        raise ValueError(
            f"calibrated=True learns where the relevant labels end, and y says so only for two levels; row {row} has "
            "more. Use PreferenceGraphs.from_multilabel"
        )
    known = (levels >= 0).any(axis=1)
    wide = np.where(levels > 0, 2, levels).astype(np.int8)
    return PreferenceGraphs(
        levels=np.column_stack([wide, np.where(known, 1, -1).astype(np.int8)]), n_labels=wide.shape[1] + 1
    )


def _is_precomputed(base_rankers: Any) -> bool:
    return isinstance(base_rankers, str) and base_rankers == "precomputed"


def _takes_values(base_rankers: Any) -> bool:
    """Whether an array of values takes the place of X."""
    return base_rankers is not None and not callable(base_rankers)
