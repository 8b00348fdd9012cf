"""AdaBoost.LC: multilabel classification, trained for the error that a covering of the labels defines."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import FloatArray, of_tensor
from labelrank._compat import Interval, StrOptions, fit_context
from labelrank._doc_links import DocLinkMixin
from labelrank.decompositions import Decomposition, get_covering
from labelrank.losses import CoveringLoss
from labelrank.models import LinearModel, Objective
from labelrank.rankers.base import OnEmpty, Progress, Training, check_same_labels, refitting
from labelrank.rankers.empty import Observed
from labelrank.rankers.minimizer import MINIMIZING, Device, MinimizerMixin
from labelrank.rankers.relevant_sets import SetClassifierMixin, relevant_sets
from labelrank.solvers import LBFGS, Boosting, SequentialBoosting, Solver
from labelrank.solvers.boosting.templates import UserTemplates, check_templates, largest_values
from labelrank.supervision.weights import fit_weights
from labelrank.torch import validate_features


class LabelCoveringClassifier(MinimizerMixin, CallbackSupportMixin, DocLinkMixin, SetClassifierMixin, BaseEstimator):
    r"""Multilabel classifier that minimizes the covering loss, by boosting or L-BFGS.

    The labels are covered by sets, the cover elements; labels of an element are right or wrong together, and the number
    of elements with a wrong label is the error. The objective is a convex bound of it,

    .. math:: \sum_i w_i \sum_{s} c_s \log\left(1 + \sum_{l \in a_s} e^{-y_i^l f^l(x_i)}\right)
              + \frac\alpha2 \sum_l \|w_l\|^2, \qquad f^l(x) = w_l \cdot x + b_l .

    A label is predicted when its score is above 0. It is the log-linear loss on the graph with a dummy label of score
    0: relevant labels are preferred to the dummy, the dummy to the others.

    Parameters
    ----------
    covering : str, Covering or callable, default="hamming"
        ``"hamming"`` (each label by itself), ``"zero_one"`` (all together), ``"two_sets"`` (the relevant, the others),
        ``"weighted_positive"``, ``"weighted_negative"``, an object such as ``weighted_positive(3)``, or a function of
        the boolean vector of an example's relevant labels that returns cover elements; see
        :mod:`labelrank.decompositions`.
    solver : {"lbfgs", "boosting"}, default="lbfgs"
        ``"lbfgs"`` reaches the optimum in few passes over the data; ``"boosting"``, the algorithm of the paper,
        decreases the loss by at least ``bound_curve_`` in every round.
    templates : {"parallel", "sequential"} or ndarray of shape (n_templates, n_hypotheses), default="parallel"
        For boosting, which coefficients of a label move in a round. ``"parallel"``: all, by 1 over the largest 1-norm
        of an example's features. ``"sequential"``: the best one. An array holds templates b with :math:`\|b\|_1 \le 1`,
        one non-negative length per feature (and one more, the last, for the intercept); every label takes the best of
        them. A feature that leaves [-1, 1] is divided by its largest absolute value, so that the bound holds for the
        data as they are.
    max_iter : int, default=1000
        Maximal number of rounds or iterations.
    tol : float, default=1e-4
        Stop when no entry of the gradient of the mean objective is larger.
    smoothing : float, default=0.0
        For boosting: added to both weights of every coefficient. With 0, an unpenalized coefficient with a weight of
        zero does not move.
    alpha : float, default=1.0
        Strength of the penalty; intercepts are not penalized. Sequential boosting has no penalty and needs 0.
    fit_intercept : bool, default=True
        Whether to add an intercept, one more constant feature.
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
        What to do about rows of y without any known label.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Coefficients.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts.
    loss_curve_ : ndarray of shape (n_iter_ + 1,)
        The mean objective, before the first iteration and after each.
    bound_curve_ : ndarray of shape (n_iter_,)
        Guaranteed decrease of the mean objective in each round of boosting; NaN for L-BFGS.
    classes_ : ndarray of shape (n_labels,)
        Names of the labels; of a vector, its two classes.
    outputs_2d_ : bool
        False when `y` was a vector of classes, so that `predict` and `decision_function` return vectors.
    n_iter_ : int
        Number of iterations.
    gap_ : float
        Largest entry of the gradient of the mean loss at the end.

    References
    ----------
    Amit, Dekel, Singer: A boosting algorithm for label covering in multilabel problems. 2007.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelrank import LabelCoveringClassifier
    >>> from labelrank.metrics import covering_error
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> model = LabelCoveringClassifier("two_sets").fit(X, Y)
    >>> covering_error(Y, model.decision_function(X), "two_sets") < 0.9
    True
    """

    coef_: FloatArray
    intercept_: FloatArray
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MINIMIZING,
        "covering": [str, Decomposition, callable],
        "solver": [StrOptions({"lbfgs", "boosting"})],
        "templates": [StrOptions({"parallel", "sequential"}), "array-like"],
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "on_empty": [StrOptions({"warn", "error", "ignore"})],
    }

    def __init__(
        self,
        covering: str | Decomposition | Callable[..., Any] = "hamming",
        *,
        solver: Literal["lbfgs", "boosting"] = "lbfgs",
        templates: Any = "parallel",
        max_iter: int = 1000,
        tol: float = 1e-4,
        smoothing: float = 0.0,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        warm_start: bool = False,
        n_jobs: int | None = None,
        device: Device = None,
        checkpoint: Any = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.covering = covering
        self.solver = solver
        self.templates = templates
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.device = device
        self.checkpoint = checkpoint
        self.on_empty = on_empty

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from relevant labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.
        y : 0/1 matrix (dense or sparse), sets of labels, or PreferenceGraphs of shape (n_samples, n_labels)
            The relevant labels; NaN in a dense matrix is an unknown label. A vector of two classes is a single label,
            relevant for the second class.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the examples.

        Returns
        -------
        self
        """
        with refitting(self):
            data = self._validate(X, y, sample_weight)
            progress = Progress(self, data.X, y)
            objective = self._objective(data)
            self._minimize(objective, self._solver(objective), progress)
            progress.end()
        return self

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> Training:
        X = validate_features(self, X, accept_sparse="csr", dtype=np.float64, order="C")
        graphs, classes, self.outputs_2d_ = relevant_sets(of_tensor(y), X.shape[0], type(self).__name__)
        data = Training(X, graphs, fit_weights(of_tensor(sample_weight), X.shape[0]))
        self._set_observed(self._observed(data), classes, self.on_empty)
        self._set_labels(classes)
        return data

    def _observed(self, data: Training) -> Observed:
        """Rows with a known label, or without a weight."""
        known = (data.graphs.set_levels("a covering") >= 0).any(axis=1)
        return Observed.of_rows(known | (data.weight == 0))

    def _set_observed(self, observed: Observed, labels: npt.NDArray[Any], on_empty: OnEmpty) -> None:
        observed.report(labels, on_empty)

    def _objective(self, data: Training) -> Objective:
        loss = CoveringLoss(data.graphs, get_covering(self.covering), data.weight)
        model = LinearModel(data.X, loss.shape[1], fit_intercept=self.fit_intercept)
        return Objective(model, loss, alpha=self.alpha, n_jobs=self.n_jobs)

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels; a label is predicted when its score is above 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) if y was a vector of classes
        """
        check_is_fitted(self)
        X = validate_features(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return self._as_output(np.asarray(X @ self.coef_.T + self.intercept_))

    def _set_labels(self, classes: npt.NDArray[Any]) -> None:
        check_same_labels(self, getattr(self, "classes_", None), classes)
        self.classes_ = classes

    @property
    def _keeps_tensors(self) -> bool:
        return isinstance(self.templates, str)

    def _solver(self, objective: Objective) -> Solver:
        named = isinstance(self.templates, str)
        if self.solver == "lbfgs":
            if not named or self.templates != "parallel":
                raise ValueError('templates are for solver="boosting"; leave them at "parallel" with solver="lbfgs"')
            if self.smoothing:
                raise ValueError(
                    f'smoothing is for solver="boosting"; got smoothing={self.smoothing} with solver="lbfgs"'
                )
            return LBFGS()
        if not named:
            lengths = check_templates(self.templates, objective.model.n_penalized, self.fit_intercept)
            lengths /= self._largest_values(objective)
            return Boosting(self.smoothing, UserTemplates(lengths))
        if self.templates == "sequential" and self.alpha:
            raise ValueError('templates="sequential" has no penalty; pass alpha=0, or use templates="parallel"')
        return SequentialBoosting(self.smoothing) if self.templates == "sequential" else Boosting(self.smoothing)

    def _largest_values(self, objective: Objective) -> FloatArray:
        model: Any = objective.model
        return largest_values(model.X, self.fit_intercept, objective.loss.counted)
