"""Transformers of counts of terms in documents."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from labelrank._doc_links import DocLinkMixin


class CountTransformer(DocLinkMixin, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Base class of transformers from counts to weights: sparse in, sparse out."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def transform(self, X: Any) -> Any:
        """Weigh the terms of documents.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Counts of terms.

        Returns
        -------
        CSR matrix of shape (n_samples, n_features), ndarray for dense `X`
            Weights of the terms.
        """
        counts = self._check_counts(X, reset=False)
        counts.data = self._weights(counts)
        counts.eliminate_zeros()
        return counts if sparse.issparse(X) else counts.toarray()

    def _weights(self, counts: Any) -> Any:
        """Weights of the counts in ``counts.data``, of the same type of numbers."""
        raise NotImplementedError

    def _check_counts(self, X: Any, *, reset: bool) -> Any:
        """Validate counts; return a new CSR matrix with one positive entry per term of a document."""
        # Other formats become CSR here, after the change to float: small integers must not overflow on the way.
        checks: dict[str, Any] = {"accept_sparse": ("csr", "csc", "coo"), "dtype": [np.float64, np.float32]}
        checked: Any = validate_data(self, X, reset=reset, **checks)
        counts = checked.tocsr(copy=True) if hasattr(checked, "tocsr") else sparse.csr_array(checked)
        counts.sum_duplicates()
        counts.eliminate_zeros()
        if counts.nnz and counts.data.min() < 0:
            entry = int(np.argmax(counts.data < 0))
            row = int(np.searchsorted(counts.indptr, entry, side="right")) - 1
            raise ValueError(
                f"Negative values in data passed to {type(self).__name__}: X holds {counts.data[entry]} in row {row}, "
                f"column {counts.indices[entry]}; counts start at 0"
            )
        return counts
