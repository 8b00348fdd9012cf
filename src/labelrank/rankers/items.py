"""Base class of the rankers of items in groups: checks of the groups, and the score."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.callback import CallbackSupportMixin

from labelrank._arrays import FloatArray, of_tensor
from labelrank._doc_links import DocLinkMixin
from labelrank.supervision import stacklevel_of_user


class ItemRanker(DocLinkMixin, CallbackSupportMixin, RegressorMixin, BaseEstimator):
    """Base of the rankers of items: ``score``."""

    n_groups_: int

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = "warn") -> float:
        """1 minus the disagreement within groups; see :func:`labelrank.metrics.group_disagreement`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_items, n_features)
            Items.
        y : array-like of shape (n_items,)
            True scores.
        sample_weight : array-like of shape (n_items,), optional
            Weights of the items; a pair has the product of two.
        groups : array-like of shape (n_items,), None or "warn"
            Group of each item. None means that all items form one group, which is also the default, with a warning if
            `fit` had more than one.

        Returns
        -------
        float
            From 0 to 1.
        """
        predicted = self.predict(X)
        groups = self._groups(groups, "score", self.n_groups_ > 1)
        return agreement(of_tensor(y), predicted, groups, of_tensor(sample_weight))

    def _groups(self, groups: Any, method: str, expected: bool = True) -> Any:
        """The groups, None for a single one; warn if they are expected and none were given."""
        if not (isinstance(groups, str) and groups == "warn"):
            return of_tensor(groups)
        if expected:
            name = type(self).__name__
            warnings.warn(
                f"{name}.{method} was called without groups and compares all items with each other; pass groups, or "
                "groups=None if all items form one group. cross_val_score and GridSearchCV pass groups by metadata "
                "routing: sklearn.set_config(enable_metadata_routing=True), then "
                f"{name}(...).set_fit_request(groups=True).set_score_request(groups=True) and "
                'cross_val_score(..., params={"groups": groups})',
                UserWarning,
                stacklevel=stacklevel_of_user(),
            )
        return None


def agreement(y: Any, scores: FloatArray, groups: Any, sample_weight: Any = None) -> float:
    """Return 1 minus the mean disagreement per group."""
    from labelrank.metrics import group_disagreement

    return 1.0 - group_disagreement(y, scores, groups, sample_weight)


def check_candidates(values: Any, name: str, *, zero: bool = False) -> FloatArray:
    """Return candidates for a parameter as a vector; raise on values that are not > 0 (with `zero`: not ≥ 0)."""
    expected = f"{name} must be one or more finite numbers {'≥' if zero else '>'} 0, got {values!r}"
    try:
        vector = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise type(error)(expected) from error
    if vector.ndim != 1 or not len(vector) or not (np.isfinite(vector) & ((vector > 0) | zero & (vector == 0))).all():
        raise ValueError(expected)
    return vector
