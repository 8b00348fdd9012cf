"""Gradient-boosted trees for sets of relevant labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.utils.validation import validate_data

from labelrank._arrays import FloatArray, canonical
from labelrank._compat import StrOptions, fit_context
from labelrank._doc_links import DocLinkMixin
from labelrank.decompositions import Decomposition, get_covering
from labelrank.losses import CoveringLoss
from labelrank.rankers.base import OnEmpty, Progress, check_same_labels, refitting, report_empty_rows
from labelrank.rankers.relevant_sets import SetClassifierMixin, relevant_sets
from labelrank.supervision.weights import fit_weights
from labelrank.trees.boosting.base import BoostedTreesMixin
from labelrank.trees.boosting.data import BoostingData
from labelrank.trees.categories import column_errors


class GradientBoostingCoveringClassifier(
    BoostedTreesMixin, CallbackSupportMixin, DocLinkMixin, SetClassifierMixin, BaseEstimator
):
    r"""Multilabel classifier of gradient-boosted trees, for the error defined by a covering of the labels.

    It minimizes the covering loss

    .. math:: \sum_i w_i \sum_{s} c_s \log\left(1 + \sum_{l \in a_s} e^{-y_i^l f^l(x_i)}\right)

    like :class:`~labelrank.LabelCoveringClassifier`, with trees instead of features. A label is predicted if its score
    is above 0.

    Parameters
    ----------
    covering : str, Covering or callable, default="hamming"
        ``"hamming"`` (each label by itself), ``"zero_one"`` (all together), ``"two_sets"`` (the relevant, the others),
        ``"weighted_positive"``, ``"weighted_negative"``, an object or a function; see :mod:`labelrank.decompositions`.
    learning_rate, max_iter, max_leaf_nodes, max_depth, min_samples_leaf, l2_regularization, max_features, subsample
        As in :class:`~labelrank.GradientBoostingRanker`.
    max_bins, categorical_features, early_stopping, validation_fraction, n_iter_no_change, tol, warm_start
        As in :class:`~labelrank.GradientBoostingRanker`.
    random_state, n_jobs, checkpoint
        As in :class:`~labelrank.GradientBoostingRanker`.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows of y without any known label.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Names of the labels; if `y` was a vector, its two classes.
    outputs_2d_ : bool
        False if `y` was a vector of classes, so that `predict` and `decision_function` return vectors.
    n_iter_, baseline_, train_score_, validation_score_, loss_curve_, feature_importances_, tree_offsets_, value_, ...
        As in :class:`~labelrank.GradientBoostingRanker`.

    See Also
    --------
    labelrank.LabelCoveringClassifier : The linear classifier.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelrank import GradientBoostingCoveringClassifier
    >>> from labelrank.metrics import covering_error
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> model = GradientBoostingCoveringClassifier("two_sets", max_iter=50).fit(X, Y)
    >>> covering_error(Y, model.decision_function(X), "two_sets") < 0.1
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoostedTreesMixin._parameter_constraints,
        "covering": [str, Decomposition, callable],
        "on_empty": [StrOptions({"warn", "error", "ignore"})],
    }

    def __init__(
        self,
        covering: str | Decomposition | Callable[..., Any] = "hamming",
        *,
        learning_rate: float = 0.1,
        max_iter: int = 300,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: float = 5,
        l2_regularization: float = 1.0,
        max_features: float = 1.0,
        subsample: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.covering = covering
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.subsample = subsample
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.on_empty = on_empty

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from relevant labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples; NaN is a missing value.
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
            X = self._encode_fit(canonical(X))
            with column_errors(X):
                X = validate_data(self, X, reset=not self._continues(), **self._checks())
            graphs, classes, self.outputs_2d_ = relevant_sets(y, X.shape[0], type(self).__name__)
            self._set_categorical(X)
            weight = fit_weights(sample_weight, X.shape[0])
            covering = get_covering(self.covering)
            report_empty_rows(CoveringLoss(graphs, covering, weight).counted | (weight == 0), self.on_empty)
            check_same_labels(self, getattr(self, "classes_", None), classes)
            self.classes_ = classes
            progress = Progress(self, X, y)
            data = BoostingData(X, graphs, weight, lambda some, of: CoveringLoss(some, covering, of))
            self._boost(data, progress)
            progress.end()
        return self

    def _check_X(self, X: Any) -> Any:
        return validate_data(self, self._encode(canonical(X)), reset=False, **self._checks())

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels; a label is predicted if its score is above 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) if y was a vector of classes
        """
        return self._as_output(self._scores(self._check_X(X)))

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Scores of the labels after each iteration.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of shape (n_samples, n_labels), or (n_samples,) if y was a vector of classes
        """
        for scores in self._staged_scores(self._check_X(X)):
            yield self._as_output(scores)

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """The relevant labels after each iteration.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray
            As returned by `predict`.
        """
        for scores in self.staged_decision_function(X):
            yield self._as_labels(scores)
