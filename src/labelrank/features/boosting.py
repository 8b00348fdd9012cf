"""Selection of terms by the decrease of the loss that the first step of boosting guarantees for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from labelrank._arrays import FloatArray
from labelrank._compat import Interval, check_sample_weight, fit_context
from labelrank._refitting import refitting
from labelrank.decompositions import Decomposition, get_decomposition
from labelrank.features._selection import TermSelector, largest
from labelrank.losses import LogLinearLoss
from labelrank.models import LinearModel, Objective
from labelrank.supervision import as_graphs, stacklevel_of_user


class BoostingSelector(TermSelector):
    r"""Keep the terms for which the first step of boosting guarantees the largest decrease of the loss.

    .. math:: \text{score of term } t = \sum_l \left(\sqrt{W^+_{tl}} - \sqrt{W^-_{tl}}\right)^2,

    where :math:`W^\pm_{tl}` are the weights of boosting with all coefficients at 0: the weight, over the edges of all
    preference graphs, with which increasing the coefficient of term t for label l increases (+) and decreases (-) the
    loss. A step of boosting in :class:`~labelrank.LogLinearRanker` decreases the loss by at least the sum of these
    scores divided by a constant.

    Parameters
    ----------
    n_features : int, default=3200
        Number of terms to keep. If there are fewer, all are kept, with a warning.
    decomposition : str, Decomposition or callable, default="domination"
        Decomposition of the graphs, as in :class:`~labelrank.LogLinearRanker`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The scores.
    support_ : ndarray of shape (n_features_in_,)
        Mask of the features that are kept.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    RocchioSelector : Selects terms label by label, from sets of relevant labels.

    Notes
    -----
    - Of terms with equal scores at the threshold, those with the lowest index are kept. If no row of `y` has an
      observed pair, all scores are 0, and ``fit`` warns.
    - The score is proportional to the values of a term, so terms should be on the same scale, as those of
      :class:`LogCountTransformer` are. Negative values are allowed.
    - Sparse `X` gives CSR, dense `X` a dense array, with the data type of `X`.

    References
    ----------
    Dekel, Manning, Singer: Log-linear models for label ranking. NIPS 16, 2003.

    Examples
    --------
    >>> from labelrank.features import BoostingSelector
    >>> X = [[1, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 1]]
    >>> y = [[1, 2], [1, 2], [2, 1], [2, 1]]  # the last column of X determines which label is first
    >>> selector = BoostingSelector(n_features=1).fit(X, y)
    >>> selector.scores_.round(3)
    array([0., 0., 2.])
    >>> selector.get_feature_names_out(["the", "of", "goal"])
    array(['goal'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_features": [Interval(Integral, 1, None, closed="left")],
        "decomposition": [str, Decomposition, callable],
    }

    def __init__(
        self, n_features: int = 3200, *, decomposition: str | Decomposition | Callable[..., Any] = "domination"
    ) -> None:
        self.n_features = n_features
        self.decomposition = decomposition

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BoostingSelector:
        """Score and select the terms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Documents as weights of terms.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            Observed preferences: layered or not, cycles included.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the documents.

        Returns
        -------
        self
        """
        with refitting(self):
            decomposition = get_decomposition(self.decomposition)
            X = self._check(X, y)
            weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if self.n_features > X.shape[1]:
                found = f"n_features={self.n_features}, but X has {X.shape[1]} features; all are kept"
                warnings.warn(found, UserWarning, stacklevel=stacklevel_of_user())
            loss = LogLinearLoss(as_graphs(y), decomposition, weight)
            self.scores_ = _promises(X, loss)
            if not loss.counted.any():
                found = "y has no observed pair in any row of positive weight"
                advice = "so all scores are 0 and the first features are kept"
                warnings.warn(f"{found}, {advice}", UserWarning, stacklevel=stacklevel_of_user())
            self.support_ = largest(self.scores_, self.n_features)
        return self


def _promises(X: Any, loss: LogLinearLoss) -> FloatArray:
    """Σ_l (√W⁺ − √W⁻)² of every feature, with all coefficients at 0."""
    objective = Objective(LinearModel(X, loss.shape[1], fit_intercept=False), loss)
    _, positive, negative = objective.value_and_weights(np.zeros(objective.coef_shape))
    difference = np.sqrt(positive, out=positive)
    difference -= np.sqrt(negative, out=negative)
    return np.asarray(np.einsum("tl,tl->t", difference, difference))
