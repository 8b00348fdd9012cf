"""Selection of the terms with the highest Rocchio scores for each label."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrank._arrays import BoolArray, FloatArray
from labelrank._compat import Interval, fit_context
from labelrank._refitting import refitting
from labelrank.features._selection import TermSelector, largest
from labelrank.supervision import PreferenceGraphs, label_names


class RocchioSelector(TermSelector):
    r"""Keep, for each label, the terms with the highest Rocchio scores.

    With :math:`R_l` the documents that label l is relevant for and :math:`\bar R_l` those that it is not relevant for,
    the score of term t for label l is

    .. math:: w_{lt} = \max\left(0,\; \frac{\beta}{|R_l|} \sum_{i \in R_l} x_{it}
              - \frac{\gamma}{|\bar R_l|} \sum_{i \in \bar R_l} x_{it}\right),

    Rocchio's prototype of a topic as adapted by Ittner, Lewis and Ahn, with their :math:`\beta = 16` and
    :math:`\gamma = 4`. The union over the labels of their `k_per_label` best terms is kept.

    Parameters
    ----------
    k_per_label : int, default=100
        Number of terms to select for each label; fewer if fewer terms have a positive score.
    beta, gamma : float, default=16.0 and 4.0
        Weights of the documents for and against a label. Only their ratio matters for what is kept.

    Attributes
    ----------
    scores_ : ndarray of shape (n_labels, n_features)
        The scores.
    support_ : ndarray of shape (n_features,)
        Mask of the features that are kept.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    BoostingSelector : Selects terms by the decrease of the loss that boosting guarantees for them.

    Notes
    -----
    - A term with score 0 is not selected, so nothing is selected for a label without relevant documents (its scores are
      0). For a label that is relevant everywhere the second mean is 0. If no term is left, ``fit`` raises ValueError.
    - Of terms with equal scores at the threshold, those with the lowest index are selected.
    - Scores are means of the values in `X`: apply it to weights, such as those of :class:`PivotedTfidfTransformer`,
      rather than to counts. Negative values are allowed.
    - Sparse `X` gives CSR, dense `X` a dense array, with the data type of `X`.

    References
    ----------
    Ittner, Lewis, Ahn: Text categorization of low quality images. Symposium on Document Analysis and Information
    Retrieval, 1995.

    Amit, Dekel, Singer: A boosting algorithm for label covering in multilabel problems. AISTATS, 2007. Section 4.

    Examples
    --------
    >>> from labelrank.features import RocchioSelector
    >>> X = [[1, 0, 2], [1, 1, 0], [1, 0, 0]]
    >>> Y = [{"tax"}, {"law"}, {"law"}]
    >>> selector = RocchioSelector(k_per_label=1).fit(X, Y)
    >>> selector.labels_, selector.scores_
    (array(['law', 'tax'], dtype=object), array([[12.,  8.,  0.],
           [12.,  0., 32.]]))
    >>> selector.get_support()
    array([ True, False,  True])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "k_per_label": [Interval(Integral, 1, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, k_per_label: int = 100, *, beta: float = 16.0, gamma: float = 4.0) -> None:
        self.k_per_label = k_per_label
        self.beta = beta
        self.gamma = gamma

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> RocchioSelector:
        """Score and select the terms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Documents as weights of terms.
        y : 0/1 matrix (dense, sparse or data frame) of shape (n_samples, n_labels), list of sets of labels, vector of
        classes, or PreferenceGraphs
            The relevant labels. In layered graphs (of sets, classes, a label tree) they are those of level 0. An
            unknown label of a document, NaN in a matrix and absent in a graph, counts neither for nor against.

        Returns
        -------
        self
        """
        with refitting(self):
            X = self._check(X, y)
            graphs = _relevance(y)
            self.labels_ = graphs.labels
            self.scores_ = self._scores(X, graphs.levels)
            self.support_ = np.zeros(X.shape[1], dtype=bool)
            for row in self.scores_:
                self.support_ |= largest(row, self.k_per_label) & (row > 0)
            if not self.support_.any():
                raise ValueError(
                    "no term has a positive Rocchio score for any label: no label has relevant documents with terms, "
                    "or their terms weigh more in the other documents; use a smaller gamma"
                )
        return self

    def _scores(self, X: Any, levels: npt.NDArray[Any]) -> FloatArray:
        relevant, irrelevant = levels == 0, levels > 0
        n_relevant = np.count_nonzero(relevant, axis=0)[:, None]
        n_irrelevant = np.count_nonzero(irrelevant, axis=0)[:, None]
        # Few labels are relevant, so the sums of the others are differences to the total. All sums run over the
        # documents in the same order, so that a difference of equal sums is exactly 0.
        not_against = ~irrelevant
        spared = _sums(not_against, X)
        positive = _sums(relevant, X) if (relevant != not_against).any() else spared
        negative = _sums(np.ones((len(levels), 1), dtype=bool), X) - spared
        scores = self.beta * positive / np.maximum(n_relevant, 1) - self.gamma * negative / np.maximum(n_irrelevant, 1)
        scores[n_relevant[:, 0] == 0] = 0
        return np.maximum(scores, 0, out=scores)


def _sums(mask: BoolArray, X: Any) -> FloatArray:
    """Sums of the rows of `X` that each column of `mask` marks."""
    sums: Any = sparse.csr_array(mask.T).astype(np.float64) @ X
    return np.asarray(sums if isinstance(sums, np.ndarray) else sums.toarray())


def _relevance(y: Any) -> PreferenceGraphs:
    """Relevant labels as graphs stored as levels."""
    if hasattr(y, "to_levels"):
        graphs: PreferenceGraphs = y.to_levels()
        return graphs
    if sparse.issparse(y) or label_names(y) is not None:
        return PreferenceGraphs.from_multilabel(y)
    rows = np.asarray(y) if hasattr(y, "__array__") else y
    first = next(iter(rows))
    if isinstance(first, Collection) and not isinstance(first, str):
        return PreferenceGraphs.from_multilabel(rows)
    return PreferenceGraphs.from_multiclass(rows)
