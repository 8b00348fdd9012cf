"""Targets of multilabel classifiers: a matrix, sets of names, graphs, or a vector of two classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from labelrank._arrays import BoolArray, FloatArray, of_tensor
from labelrank.decompositions import get_covering
from labelrank.decompositions.coverings import SetCovering
from labelrank.supervision import PreferenceGraphs, is_graphs


def _has_probabilities(model: Any) -> bool:
    covering = get_covering(model.covering)
    if isinstance(covering, SetCovering) and covering.is_separate:
        return True
    raise AttributeError(
        'predict_proba needs covering="hamming", the only covering whose loss is a likelihood of each label; got '
        f"{model.covering!r}"
    )


class SetClassifierMixin(ClassifierMixin):
    """Mixin of multilabel classifiers with a score for each label; ``score`` accepts the same types of y as ``fit``."""

    covering: Any
    classes_: npt.NDArray[Any]
    outputs_2d_: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels."""
        raise NotImplementedError(f"{type(self).__name__} must define decision_function")

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The relevant labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        int ndarray of shape (n_samples, n_labels)
            1 for a relevant label. If y was a vector of classes, the predicted classes, of shape (n_samples,).
        """
        return self._as_labels(self.decision_function(X))

    def predict_sets(self, X: Any) -> list[set[Any]]:
        """The names of the relevant labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        list of n_samples sets
            Names as in ``classes_``; one class in each set if y was a vector of classes.

        Examples
        --------
        >>> from labelrank import LabelCoveringClassifier
        >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [{"tea"}, {"tea"}, {"tea", "milk"}, {"milk"}]
        >>> LabelCoveringClassifier(alpha=0.1).fit(X, Y).predict_sets([[0.2], [2.2]]) == [{"tea"}, {"tea", "milk"}]
        True
        """
        predicted = self.predict(X)
        if not self.outputs_2d_:
            return [{name} for name in predicted.tolist()]
        names = self.classes_.tolist()
        return [{name for name, relevant in zip(names, row, strict=True) if relevant} for row in predicted]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        r"""Probabilities of the labels, with ``covering="hamming"``.

        The loss of a label by itself is then the logistic loss, a likelihood with :math:`P(l) = 1 / (1 + e^{-f^l})`.
        The losses of other coverings are not likelihoods: their probabilities would not add up to 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Probability that a label is relevant, or of each class if y was a vector of classes.
        """
        scores = self.decision_function(X)
        if self.outputs_2d_:
            return np.asarray(expit(scores))
        return np.column_stack([expit(-scores), expit(scores)])[:, : len(self.classes_)]

    def _as_output(self, scores: FloatArray) -> FloatArray:
        """Scores as ``decision_function`` returns them."""
        return scores if self.outputs_2d_ else scores[:, 0]

    def _as_labels(self, scores: FloatArray) -> npt.NDArray[Any]:
        """Labels or classes with scores above 0."""
        relevant = are_relevant(scores, self)
        if self.outputs_2d_:
            return relevant.astype(np.int64)
        return self.classes_[np.minimum(relevant, len(self.classes_) - 1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the examples whose labels are all predicted correctly.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Examples.
        y : 0/1 matrix (dense or sparse), sets of labels, or PreferenceGraphs of shape (n_samples, n_labels)
            The relevant labels. NaN in a dense matrix is an unknown label and is ignored. If the labels have names,
            they are matched with ``classes_`` by name. If the model was fitted on a vector of classes, y must be such a
            vector.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the examples.

        Returns
        -------
        float
            From 0 to 1.
        """
        check_is_fitted(self)
        y, sample_weight = of_tensor(y), of_tensor(sample_weight)
        if not self.outputs_2d_:
            return float(super().score(X, y, sample_weight))
        from labelrank.metrics import get_scorer

        return float(1.0 + get_scorer("covering_error", covering="zero_one")(self, X, y, sample_weight=sample_weight))


def relevant_sets(y: Any, n_samples: int, name: str) -> tuple[PreferenceGraphs, npt.NDArray[Any], bool]:
    """Graphs of the relevant sets, the names of the labels or the classes, and whether y has a column per label."""
    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if isinstance(y, Iterator):
        y = list(y)
    outputs_2d = is_graphs(y) or sparse.issparse(y) or hasattr(y, "columns") or not _is_vector(y)
    if outputs_2d:
        graphs = y if is_graphs(y) else PreferenceGraphs.from_multilabel(y)
        classes = graphs.labels
    else:
        y, classes = check_classes(y)
        graphs = relevant_class(y, classes)
    if len(graphs) != n_samples:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_samples}, y has {len(graphs)}"
        )
    return graphs, classes, outputs_2d


def _is_vector(y: Any) -> bool:
    """Whether the rows are classes, and not sets of labels or rows of a matrix."""
    rows = np.asarray(y) if hasattr(y, "__array__") else y
    try:
        if isinstance(rows, (str, bytes, Mapping, Set)):
            raise TypeError("not one item for each example")
        first: Any = next(iter(rows), None)
    except TypeError:
        raise TypeError(
            "y must be a matrix of 0 and 1, a list with a set of labels for each example, PreferenceGraphs or a vector "
            f"of two classes, got {type(y).__name__}"
        ) from None
    return np.ndim(first) == 0 and not isinstance(first, Set)


def check_classes(y: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """A vector of at most two classes, and the classes, sorted."""
    if np.ma.is_masked(y):
        raise ValueError("Input y is masked; drop the rows whose class is not known")
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity")
    check_classification_targets(y)
    return y, two_classes(np.unique(y))


def two_classes(classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The classes themselves; raise if there are more than two."""
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported for a vector of classes; the type of the target is multiclass "
            f"with {len(classes)} classes. Give y as a 0/1 matrix with a column per label"
        )
    return classes


def relevant_class(y: npt.NDArray[Any], classes: npt.NDArray[Any]) -> PreferenceGraphs:
    """One label, relevant in the second class."""
    relevant = y == classes[-1] if len(classes) == 2 else np.zeros(len(y), dtype=bool)
    return PreferenceGraphs.from_multilabel(relevant[:, None].astype(np.int8))


def are_relevant(scores: FloatArray, model: Any) -> BoolArray:
    """Whether each label has a score above 0."""
    if np.isnan(scores).any():
        raise ValueError(
            f"{type(model).__name__} computes scores for X that are NaN, as sums overflow; scale X in fit and in "
            "predict, for example by StandardScaler in a pipeline"
        )
    return scores > 0
