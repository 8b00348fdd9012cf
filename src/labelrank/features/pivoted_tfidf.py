"""Term weights with pivoted length normalization."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import FloatArray
from labelrank._compat import Interval, fit_context
from labelrank._refitting import refitting
from labelrank.features._counts import CountTransformer


class PivotedTfidfTransformer(CountTransformer):
    r"""Weigh terms by tf-idf with pivoted length normalization.

    With :math:`d_i^l` the number of times that term l appears in document i, :math:`m_i` the number of distinct terms
    of document i, :math:`u_l` the number of times that term l appears throughout the training corpus, and m the number
    of documents in it,

    .. math:: \mathrm{idf}_l = \log \frac{m}{u_l}, \qquad
              \mathrm{tf}_i^l = \frac{1 + \log d_i^l}{1 + \log \mathrm{avg}(d_i)} \left/
              \left(1 - \mathrm{slope} + \mathrm{slope} \cdot \frac{m_i}{\mathrm{avg}(m)}\right)\right. ,

    where :math:`\mathrm{avg}(d_i) = \sum_l d_i^l / m_i` is the mean count of the terms of document i and avg(m) is the
    mean of :math:`m_i` over the training corpus. The weight of a term in a document is tf times idf, and 0 where the
    term does not appear.

    Parameters
    ----------
    slope : float, default=0.3
        How much the weights in long documents are reduced, from 0 (not at all) to 1 (in proportion to their number of
        terms). A document of average length, the pivot, has the same weights for every slope.

    Attributes
    ----------
    idf_ : ndarray of shape (n_features,)
        The idf of each term; 0 for terms that do not appear in the training corpus.
    average_terms_ : float
        avg(m), the mean number of distinct terms of a training document.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    sklearn.feature_extraction.text.TfidfTransformer : Idf by the number of documents, length by a norm.

    Notes
    -----
    - :math:`u_l` counts occurrences, not documents, so a term that appears more often than there are documents has a
      *negative* idf, and one that appears exactly as often has idf 0. This is the formula of the paper.
    - A term that does not appear in the training corpus has idf 0. In a new document it still counts for the length of
      the document.
    - A document without terms stays empty. ``fit`` raises ValueError if the training corpus has no terms.
    - Sparse `X` of any format gives CSR without explicit zeros (duplicate entries are summed first), dense `X` gives a
      dense array; float32 stays float32.

    References
    ----------
    Singhal, Buckley, Mitra: Pivoted document length normalization. SIGIR, 1996.

    Amit, Dekel, Singer: A boosting algorithm for label covering in multilabel problems. AISTATS, 2007. Section 4.

    Examples
    --------
    >>> from labelrank.features import PivotedTfidfTransformer
    >>> counts = [[1, 0, 2, 0], [0, 1, 0, 0], [1, 1, 0, 0]]
    >>> tfidf = PivotedTfidfTransformer().fit(counts)
    >>> tfidf.idf_.round(2)  # terms 0 to 2 appear twice in three documents, term 3 never
    array([0.41, 0.41, 0.41, 0.  ])
    >>> tfidf.transform(counts).round(2)
    array([[0.27, 0.  , 0.46, 0.  ],
           [0.  , 0.46, 0.  , 0.  ],
           [0.38, 0.38, 0.  , 0.  ]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"slope": [Interval(Real, 0, 1, closed="both")]}

    def __init__(self, slope: float = 0.3) -> None:
        self.slope = slope

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> PivotedTfidfTransformer:
        """Learn the idf of the terms and the mean length of the documents.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Counts of terms in the training corpus.
        y : ignored

        Returns
        -------
        self
        """
        with refitting(self):
            counts = self._check_counts(X, reset=True)
            n_documents, n_terms = counts.shape
            if not counts.nnz:
                raise ValueError(f"X has {n_documents} documents and no term in any of them; idf needs counts")
            occurrences = np.bincount(counts.indices, weights=counts.data, minlength=n_terms)
            seen = occurrences > 0
            self.idf_: FloatArray = np.zeros(n_terms)
            self.idf_[seen] = np.log(n_documents / occurrences[seen])
            self.average_terms_: float = counts.nnz / n_documents
        return self

    def _weights(self, counts: Any) -> Any:
        check_is_fitted(self)
        terms = np.diff(counts.indptr)  # m_i
        totals = counts.sum(axis=1, dtype=np.float64)
        usual = 1 + np.log(np.ravel(totals) / np.maximum(terms, 1), where=terms > 0, out=np.zeros(len(terms)))
        if (usual <= 0).any():  # never with counts, whose mean is at least 1
            row = int(np.argmax(usual <= 0))
            raise ValueError(
                f"the mean of the terms of row {row} of X is at most 1/e, where the formula is not defined; pass "
                "counts, not weights or shares"
            )
        length = usual * (1 - self.slope + self.slope * terms / self.average_terms_)
        tf = (1 + np.log(counts.data, dtype=np.float64)) / np.repeat(length, terms)
        return (tf * self.idf_[counts.indices]).astype(counts.dtype, copy=False)
