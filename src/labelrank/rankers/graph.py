"""Ranker composed of a decomposition, a loss, a model and a solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from labelrank._arrays import FloatArray, canonical
from labelrank._compat import StrOptions
from labelrank.decompositions import Decomposition, get_decomposition
from labelrank.losses import Loss, get_loss
from labelrank.models import LabelFeatureModel, LinearModel, Model, Objective
from labelrank.rankers.base import BaseRanker, OnEmpty, Progress, Training
from labelrank.rankers.minimizer import MINIMIZING, Device, MinimizerMixin
from labelrank.solvers import SOLVERS, Solver, get_solver


class GraphRanker(MinimizerMixin, BaseRanker):
    r"""Ranker composed of a decomposition, a loss, a model and a solver.

    The preference graph of each instance is cut into subgraphs by a decomposition, a loss is computed from the scores
    of each instance, a model computes the scores from coefficients, and a solver minimizes

    .. math:: L(f_w) + \frac\alpha2 \|w\|^2 .

    The learners of the papers are such combinations with their own names and defaults. User-defined losses, models and
    solvers can be used; see :doc:`/extending`.

    Parameters
    ----------
    loss : {"log_linear", "plackett_luce", "soft_margin", "squared"} or subclass of Loss, default="log_linear"
        The loss; see :mod:`labelrank.losses`.
    decomposition : str, Decomposition or callable, optional
        How the graphs are cut, for losses that cut them; by default that of the loss. See
        :mod:`labelrank.decompositions`.
    model : {"linear", "label_features"} or callable, default="linear"
        ``"linear"``: a linear score per label. ``"label_features"``: features that depend on the label, so that X has
        the shape (n_samples, n_labels, n_features) and all labels share the coefficients. A callable maps the validated
        X and the number of labels to a :class:`labelrank.models.Model` whose fitted attributes are ``coef_`` and
        ``intercept_`` of a linear model.
    solver : {"lbfgs", "boosting", "soft_projection", "least_squares"} or Solver, default="lbfgs"
        The solver; see :mod:`labelrank.solvers`. A loss must have the abilities that the solver needs: the soft margin,
        which is not smooth, needs ``"soft_projection"``.
    alpha : float, default=1.0
        Strength of the penalty; intercepts are not penalized. The loss is a sum over instances.
    max_iter : int, default=1000
        Maximal number of iterations.
    tol : float, default=1e-4
        Stop when no entry of the gradient of the mean objective is larger, or as the solver defines it.
    fit_intercept : bool, default=True
        Whether to add an intercept for each label to the linear model.
    warm_start : bool, default=False
        Whether `fit` continues from the coefficients of the last call.
    n_jobs : int, optional
        Threads over blocks of rows.
    device : {"cpu", "cuda", "auto"}, optional
        Where to learn with PyTorch: on the processor, on a GPU, or on a GPU if there is one; by default without
        PyTorch. See :doc:`/devices`.
    checkpoint : path or tuple (path, n), optional
        File that the coefficients are written to after every n iterations, by default 10, and at the end. If the file
        exists, `fit` resumes from it; a file from other data or parameters raises an error. L-BFGS resumes from the
        saved coefficients, without its history.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows and labels of y without any observed pair.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features), or (n_features,) with label features
        Coefficients.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts.
    loss_curve_ : ndarray of shape (n_iter_ + 1,)
        The mean objective, before the first iteration and after each.
    bound_curve_ : ndarray of shape (n_iter_,)
        Guaranteed decrease of the mean objective in each iteration; NaN for solvers without a guarantee.
    n_iter_ : int
        Number of iterations.
    gap_ : float
        Largest entry of the gradient of the mean objective at the end, or the gap of the solver.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from labelrank import GraphRanker
    >>> from labelrank.datasets import load_wine_rankings
    >>> X, y = load_wine_rankings(return_X_y=True)
    >>> print(f"tau {cross_val_score(GraphRanker('plackett_luce'), X, y).mean():.1f}")
    tau 0.9
    """

    coef_: FloatArray
    intercept_: FloatArray
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRanker._parameter_constraints,
        **MINIMIZING,
        "loss": "no_validation",  # get_loss has the better message
        "decomposition": [str, Decomposition, callable, None],
        "model": [StrOptions({"linear", "label_features"}), callable],
        "solver": [StrOptions(set(SOLVERS)), Solver],
    }

    def __init__(
        self,
        loss: str | type[Loss] = "log_linear",
        *,
        decomposition: str | Decomposition | Callable[..., Any] | None = None,
        model: Literal["linear", "label_features"] | Callable[..., Model] = "linear",
        solver: str | Solver = "lbfgs",
        alpha: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        warm_start: bool = False,
        n_jobs: int | None = None,
        device: Device = None,
        checkpoint: Any = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.loss = loss
        self.decomposition = decomposition
        self.model = model
        self.solver = solver
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.device = device
        self.checkpoint = checkpoint
        self.on_empty = on_empty

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.model != "label_features"
        tags.input_tags.three_d_array = self.model == "label_features"
        return tags

    def _checks(self) -> dict[str, Any]:
        if self.model == "label_features":
            return {"dtype": np.float64, "order": "C", "allow_nd": True}
        return {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}

    @property
    def _keeps_tensors(self) -> bool:
        return self.model == "linear"

    def _learn(self, data: Training, progress: Progress) -> None:
        self._minimize(self._objective(data), self._solver(), progress)

    def _objective(self, data: Training) -> Objective:
        loss = self._loss(data)
        return Objective(self._model(data.X, loss.shape[1]), loss, alpha=self.alpha, n_jobs=self.n_jobs)

    def _loss(self, data: Training) -> Loss:
        decomposition = None if self.decomposition is None else get_decomposition(self.decomposition)
        return get_loss(self.loss)(data.graphs, decomposition, data.weight)

    def _model(self, X: Any, n_labels: int) -> Model:
        if callable(self.model):
            made = self.model(X, n_labels)
            if not isinstance(made, Model):
                raise TypeError(f"model must return a labelrank.models.Model, got {type(made).__name__}")
            return made
        if self.model == "linear":
            return LinearModel(X, n_labels, fit_intercept=self.fit_intercept)
        self._check_label_features(X)
        self.n_features_in_ = X.shape[2]  # scikit-learn takes the second dimension
        return LabelFeatureModel(X)

    def _solver(self) -> Solver:
        return get_solver(self.solver)

    def _check_label_features(self, X: Any, n_features: int | str = "n_features") -> None:
        n_labels = len(self.labels_)
        if X.ndim != 3 or X.shape[1] != n_labels or n_features not in ("n_features", X.shape[2]):
            raise ValueError(
                f'model="label_features" needs X of shape (n_samples, {n_labels}, {n_features}), one row of features '
                f"for each label, got shape {X.shape}"
            )

    def _check_X(self, X: Any) -> Any:
        if self.model != "label_features":
            return super()._check_X(X)
        check_is_fitted(self)
        X = check_array(canonical(X), estimator=self, **self._checks())
        self._check_label_features(X, self.n_features_in_)
        return X

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; of shape (n_samples, n_labels, n_features) with label features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Larger is better.
        """
        X = self._check_X(X)
        if self.model == "label_features":
            return np.asarray(X @ self.coef_)
        return np.asarray(X @ self.coef_.T + self.intercept_)
