"""Selectors of terms."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from labelrank._arrays import BoolArray, FloatArray, canonical
from labelrank._doc_links import DocLinkMixin


class TermSelector(DocLinkMixin, SelectorMixin, BaseEstimator):
    """Base class of supervised selectors of terms."""

    support_: BoolArray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    def _check(self, X: Any, y: Any) -> Any:
        """Validate the documents, as an array or a CSR matrix with as many rows as `y`."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X = validate_data(self, canonical(X), accept_sparse="csr", dtype=np.float64, order="C")
        check_consistent_length(X, y)
        return X

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_


def largest(scores: FloatArray, k: int) -> BoolArray:
    """Mask of the `k` largest scores; of scores tied at the threshold, those with the lowest index."""
    if k >= len(scores):
        return np.ones(len(scores), dtype=bool)
    cut = np.partition(scores, len(scores) - k)[len(scores) - k]
    kept = scores > cut
    kept[np.flatnonzero(scores == cut)[: k - np.count_nonzero(kept)]] = True
    return kept
