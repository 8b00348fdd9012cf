"""The baseline: one ranking for every instance."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import FloatArray
from labelrank._compat import StrOptions, num_samples
from labelrank._memory import require_pair_matrices
from labelrank.aggregation import borda_scores, copeland_scores, kemeny
from labelrank.pairs import pair_shares
from labelrank.rankers.base import BaseRanker, OnEmpty, Progress, Training
from labelrank.supervision import ranks_from_scores


class DummyRanker(BaseRanker):
    """Predict one ranking for every instance: the baseline that a learner has to beat.

    The features are ignored, so anything with a length serves as `X`.

    Parameters
    ----------
    strategy : {"borda", "copeland", "kemeny", "random"}, default="borda"
        How the rankings of the training set are aggregated; see :mod:`labelrank.aggregation`.

        - ``"borda"``: by the mean number of votes, generalized to missing labels;
        - ``"copeland"``: by the number of majorities won;
        - ``"kemeny"``: the ranking that disagrees with the fewest preferences, exact for up to 15 labels;
        - ``"random"``: a random ranking for each predicted row.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows and labels of `y` without any observed pair. Such rows do not change the prediction.
    random_state : int, RandomState instance or None, default=None
        Seed of ``strategy="random"``. With an int, every call returns the same rankings.

    Attributes
    ----------
    scores_ : ndarray of shape (n_labels,)
        Scores of the labels, larger is better: mean votes (Borda), majorities (Copeland), minus the rank (Kemeny),
        0 (random).
    ranks_ : ndarray of shape (n_labels,)
        The predicted ranking; all labels tied for ``"random"``.
    pair_proba_ : ndarray of shape (n_labels, n_labels)
        The share of the instances that prefer i to j among those that prefer one of them, 1/2 where there are none.
        1/2 throughout for ``"random"``.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features, where `X` has any.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where `X` has any.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from labelrank import DummyRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> DummyRanker().fit(X, y).predict(X[:1])
    array([[3., 1., 2.]])
    >>> print(f"tau {cross_val_score(DummyRanker(), X, y, cv=10).mean():.2f}")
    tau ...
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRanker._parameter_constraints,
        "strategy": [StrOptions({"borda", "copeland", "kemeny", "random"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        strategy: Literal["borda", "copeland", "kemeny", "random"] = "borda",
        *,
        on_empty: OnEmpty = "warn",
        random_state: Any = None,
    ) -> None:
        self.strategy = strategy
        self.on_empty = on_empty
        self.random_state = random_state

    def _checks(self) -> dict[str, Any]:
        return {"skip_check_array": True}

    def _learn(self, data: Training, progress: Progress) -> None:
        k = len(self.labels_)
        if self.strategy == "random":
            self.scores_ = np.zeros(k)
            self.pair_proba_ = np.full((k, k), 0.5)
        else:
            self.pair_proba_ = pair_shares(data.graphs.pair_counts(data.weight))
            self.scores_ = _SCORES[self.strategy](data.graphs, data.weight)
        self.ranks_ = ranks_from_scores(self.scores_[np.newaxis, :])[0]

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels, the same in each row unless ``strategy="random"``.

        Parameters
        ----------
        X : array-like of length n_samples
            Instances, of which only the number counts.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Larger is better.
        """
        check_is_fitted(self)
        shape = (num_samples(X), len(self.labels_))
        if self.strategy == "random":
            drawn = check_random_state(self.random_state).random_sample(shape)
            return np.argsort(drawn, axis=1).astype(np.float64)  # a random permutation in each row
        return np.tile(self.scores_, (shape[0], 1))

    def pairwise_proba(self, X: Any) -> FloatArray:
        """P(label i comes before label j), the same for each instance.

        Parameters
        ----------
        X : array-like of length n_samples
            Instances, of which only the number counts.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            1/2 on the diagonal.
        """
        check_is_fitted(self)
        require_pair_matrices((num_samples(X), len(self.labels_)))
        return np.tile(self.pair_proba_, (num_samples(X), 1, 1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.no_validation = True
        tags.non_deterministic = self.strategy == "random"  # the ranking of a row depends on its position in X
        return tags


_SCORES = {
    "borda": borda_scores,
    "copeland": copeland_scores,
    "kemeny": lambda graphs, weight: -kemeny(graphs, weight),
}
