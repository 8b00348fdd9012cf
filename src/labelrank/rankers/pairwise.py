"""Ranking by pairwise comparison: a classifier for each pair of labels, and a vote."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from labelrank._compat import HasMethods, StrOptions, fit_context
from labelrank.aggregation.consensus import pair_counts, pair_shares
from labelrank.rankers.base import OnEmpty, RankerMixin
from labelrank.supervision import PreferenceGraphs, as_graphs

FloatArray = npt.NDArray[np.float64]


def _gives_probabilities(self: PairwiseRanker) -> bool:
    """Whether the classifiers have ``predict_proba``."""
    if not hasattr(self._classifier(), "predict_proba"):
        raise AttributeError(
            f"{type(self._classifier()).__name__} has no predict_proba, so PairwiseRanker has no pairwise_proba; wrap "
            "it in sklearn.calibration.CalibratedClassifierCV"
        )
    return True


class PairwiseRanker(RankerMixin, MetaEstimatorMixin, BaseEstimator):
    """Ranking by pairwise comparison, with any classifier of scikit-learn.

    For each pair of labels i < j a classifier learns, from the instances that prefer one of the two, which comes first.
    An instance in which one of them is missing, or in which they are tied, is simply absent from the training set of
    that pair. The score of a label is the sum of its probabilities, or of its votes, against all others; ordering by
    the sum of (true) probabilities maximises the expected rank correlation of Spearman.

    Parameters
    ----------
    estimator : classifier, optional
        What is cloned and fitted for each pair; by default :class:`sklearn.linear_model.LogisticRegression`.
    voting : {"probability", "vote"}, default="probability"
        ``"probability"``: a label scores P(i before j) against each other label, which needs `predict_proba`.
        ``"vote"``: 1 for each label that it is predicted to come before, 1/2 where nothing is known about the pair,
        which needs `predict` only. Labels with equal numbers of votes are tied.
    n_jobs : int, optional
        Threads over the pairs in `fit`; -1 for one per core. :class:`joblib.parallel_config` chooses processes.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows of y without any observed pair, from which nothing can be learned.

    Attributes
    ----------
    estimators_ : list of length n_labels * (n_labels - 1) / 2
        The classifiers of the pairs (0, 1), (0, 2), ..., (1, 2), ...; their class 1 is "the first label comes first".
        None for a pair of which all training instances say the same, or none says anything.
    pair_proba_ : ndarray of shape (n_labels, n_labels)
        The share of the training instances, by weight, that prefer i to j among those that prefer one of them, 1/2
        where there are none. It is the prediction for the pairs without classifier.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where `X` has any.

    Notes
    -----
    `sample_weight` goes to the classifiers, multiplied by the weights of the edges where graphs have any; a classifier
    that takes no weights is an error then.

    References
    ----------
    Hüllermeier, Fürnkranz, Cheng, Brinker: Label ranking by learning pairwise preferences. Artificial Intelligence 172,
    2008.

    Examples
    --------
    >>> from sklearn.model_selection import KFold, cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from labelrank import PairwiseRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> ranker = PairwiseRanker(DecisionTreeClassifier(max_depth=3, random_state=0))
    >>> print(f"{cross_val_score(ranker, X, y, cv=KFold(shuffle=True, random_state=0)).mean():.2f}")
    0.97
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "voting": [StrOptions({"probability", "vote"})],
        "n_jobs": [Integral, None],
        "on_empty": [StrOptions({"warn", "error", "ignore"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        voting: Literal["probability", "vote"] = "probability",
        n_jobs: int | None = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.estimator = estimator
        self.voting = voting
        self.n_jobs = n_jobs
        self.on_empty = on_empty

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PairwiseRanker:
        """Fit a classifier for each pair of labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            What was observed.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights of the instances.

        Returns
        -------
        PairwiseRanker
        """
        if not is_classifier(self._classifier()):
            raise ValueError(
                f"estimator must be a classifier, got {type(self._classifier()).__name__}, which does not predict "
                "classes; take the classifier of its kind, such as RidgeClassifier for Ridge"
            )
        if self.voting == "probability" and not hasattr(self._classifier(), "predict_proba"):
            raise ValueError(
                f'voting="probability" needs predict_proba, which {type(self._classifier()).__name__} does not have; '
                'pass voting="vote", or wrap it in sklearn.calibration.CalibratedClassifierCV'
            )
        X, y, weight = self._validate_fit(X, y, sample_weight, on_empty=self.on_empty, **self._checks_of_X())
        graphs = as_graphs(y)
        weighted = sample_weight is not None or graphs.weight is not None
        if weighted and not has_fit_parameter(self._classifier(), "sample_weight"):
            raise ValueError(
                f"{type(self._classifier()).__name__} takes no sample_weight, but "
                f"{'sample_weight was given' if sample_weight is not None else 'the edges of y have weights'}; choose "
                "another estimator, or leave the weights out"
            )
        self.pair_proba_ = pair_shares(pair_counts(graphs, weight))
        self.estimators_: list[Any] = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(_fit_pair)(self._classifier(), X, pair, weighted, self.labels_) for pair in _pairs(graphs, weight)
        )
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels: the sum of their probabilities or votes against all others.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            From 0 to n_labels - 1, larger is better.
        """
        X = self._check(X)
        scores = np.zeros((X.shape[0], len(self.labels_)))
        for i, j, p in self._comparisons(X, self.voting):
            scores[:, i] += p
            scores[:, j] += 1 - p
        # Sums of the same numbers in another order: what differs by rounding only is tied.
        return np.asarray(np.round(scores, 12))

    @available_if(_gives_probabilities)
    def pairwise_proba(self, X: Any) -> FloatArray:
        """P(label i comes before label j), from the classifier of the pair.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            1/2 on the diagonal.
        """
        X = self._check(X)
        proba = np.full((X.shape[0], len(self.labels_), len(self.labels_)), 0.5)
        for i, j, p in self._comparisons(X, "probability"):
            proba[:, i, j], proba[:, j, i] = p, 1 - p
        return proba

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        of_pairs = get_tags(self._classifier())
        tags.input_tags.sparse = of_pairs.input_tags.sparse
        tags.input_tags.allow_nan = of_pairs.input_tags.allow_nan
        tags.non_deterministic = of_pairs.non_deterministic
        return tags

    def _classifier(self) -> Any:
        from sklearn.linear_model import LogisticRegression  # takes long to load, and is not always needed

        return LogisticRegression() if self.estimator is None else self.estimator

    def _checks_of_X(self) -> dict[str, Any]:
        tags = get_tags(self._classifier()).input_tags
        return {
            "accept_sparse": ["csr", "csc"] if tags.sparse else False,
            "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
        }

    def _check(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **self._checks_of_X())

    def _comparisons(self, X: Any, voting: str) -> Iterator[tuple[int, int, Any]]:
        """For each pair i < j, P(i before j) of the instances, or whether it is predicted: a vector, or one number."""
        for (i, j), classifier in zip(_numbered(len(self.labels_)), self.estimators_, strict=True):
            if classifier is None:
                p = self.pair_proba_[i, j]  # 0, 1/2 or 1
            else:
                p = classifier.predict_proba(X)[:, 1] if voting == "probability" else classifier.predict(X)
            yield i, j, p


def _numbered(n_labels: int) -> list[tuple[int, int]]:
    """All pairs, in the order of the classifiers."""
    return [(i, j) for i in range(n_labels) for j in range(i + 1, n_labels)]


class Pair(NamedTuple):
    """The training set of two labels."""

    i: int
    j: int
    rows: npt.NDArray[np.intp]
    first: npt.NDArray[np.intp]  # 1 where i comes first, 0 where j does
    weight: FloatArray


def _pairs(graphs: PreferenceGraphs, weight: FloatArray) -> Iterator[Pair]:
    """All pairs i < j, with the instances of positive weight that prefer one of the two."""
    k = graphs.shape[1]
    if graphs.storage == "levels":
        levels = np.asfortranarray(graphs.levels)
        for i, j in _numbered(k):
            a, b = levels[:, i], levels[:, j]
            rows = np.flatnonzero((a >= 0) & (b >= 0) & (a != b) & (weight > 0))
            yield Pair(i, j, rows, (a[rows] < b[rows]).astype(np.intp), weight[rows])
        return
    edges = graphs.to_edges()
    votes = weight[edges.instance] if graphs.weight is None else weight[edges.instance] * graphs.weight
    low, high = np.minimum(edges.better, edges.worse), np.maximum(edges.better, edges.worse)
    number = low * k + high
    by_pair = np.argsort(number, kind="stable")  # the instances of a pair stay in order
    by_pair = by_pair[votes[by_pair] > 0]
    sorted_numbers = number[by_pair]
    for i, j in _numbered(k):
        start, stop = np.searchsorted(sorted_numbers, [i * k + j, i * k + j + 1])
        chosen = by_pair[start:stop]
        first = (edges.better[chosen] == i).astype(np.intp)
        yield Pair(i, j, edges.instance[chosen], first, votes[chosen])


def _fit_pair(estimator: Any, X: Any, pair: Pair, weighted: bool, labels: npt.NDArray[Any]) -> Any:
    """A classifier for one pair; None where there is nothing to tell apart."""
    if not len(pair.first) or pair.first.min() == pair.first.max():
        return None
    parameters = {"sample_weight": pair.weight} if weighted else {}
    try:
        return clone(estimator).fit(X[pair.rows], pair.first, **parameters)
    except Exception as error:
        error.add_note(f"in the classifier of the labels {labels[pair.i]!r} and {labels[pair.j]!r}")
        raise
