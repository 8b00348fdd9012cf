"""What the rankers of items in groups share: the groups, and the score."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.callback import CallbackSupportMixin

from labelrank._arrays import FloatArray
from labelrank.supervision import stacklevel_of_user


class ItemRanker(CallbackSupportMixin, RegressorMixin, BaseEstimator):
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
            Group of each item; None if all items form one group. So they do by default, with a warning if `fit` had
            more than one.

        Returns
        -------
        float
            From 0 to 1.
        """
        predicted = self.predict(X)
        return agreement(y, predicted, self._groups(groups, "score", self.n_groups_ > 1), sample_weight)

    def _groups(self, groups: Any, method: str, expected: bool = True) -> Any:
        """The groups, None for a single one; warn if they are expected and none were given."""
        if not (isinstance(groups, str) and groups == "warn"):
            return groups
        if expected:
            name = type(self).__name__
            warnings.warn(
                f"{name}.{method} got no groups and compares all items with each other; pass groups, or groups=None if "
                "they are one list. Tools such as cross_val_score and GridSearchCV hand them on by metadata routing: "
                "sklearn.set_config(enable_metadata_routing=True), then "
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


def check_alphas(alphas: Any) -> FloatArray:
    """Return penalties as an array; raise on non-positive values."""
    alphas = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
    if alphas.ndim != 1 or not len(alphas) or not (np.isfinite(alphas) & (alphas > 0)).all():
        raise ValueError(f"alphas must be one or more finite numbers above 0, got {alphas}")
    return alphas
