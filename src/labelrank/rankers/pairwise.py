"""Ranking by pairwise comparison: a classifier for each pair of labels, and a vote."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from labelrank._arrays import FloatArray
from labelrank._compat import HasMethods, StrOptions
from labelrank._memory import require_memory, require_pair_matrices
from labelrank.pairs import LabelPair, pair_shares
from labelrank.rankers.base import BaseRanker, OnEmpty, Progress, Training

_FEW_FEATURES = 500


def _gives_probabilities(self: PairwiseRanker) -> bool:
    """Whether the classifiers have ``predict_proba``."""
    if not hasattr(self._classifier(), "predict_proba"):
        raise AttributeError(
            f"{type(self._classifier()).__name__} has no predict_proba, so PairwiseRanker has no pairwise_proba; wrap "
            "it in sklearn.calibration.CalibratedClassifierCV"
        )
    return True


class PairwiseRanker(MetaEstimatorMixin, BaseRanker):
    """Ranking by pairwise comparison, with any classifier of scikit-learn.

    For each pair of labels i < j, a classifier learns which of the two comes first from the instances that prefer one
    of them. An instance in which one of them is missing, or in which they are tied, is left out of the training set of
    that pair. The score of a label is the sum of its probabilities, or of its votes, against all others. Ordering by
    the sum of the (true) probabilities maximizes Spearman's rank correlation in expectation.

    Parameters
    ----------
    estimator : classifier, optional
        Cloned and fitted for each pair; by default :class:`sklearn.linear_model.LogisticRegression`, with Newton's
        method for up to 500 features, which does not depend on their units.
    voting : {"probability", "vote"}, default="probability"
        ``"probability"``: a label scores P(i before j) against each other label, which needs `predict_proba`.
        ``"vote"``: 1 for each label that it is predicted to come before, 1/2 where nothing is known about the pair,
        which needs `predict` only. Labels with equal numbers of votes are tied.
    n_jobs : int, optional
        Number of threads that fit the pairs; -1 uses all cores. :class:`joblib.parallel_config` selects processes.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows and labels of `y` without any observed pair, from which nothing can be learned.

    Attributes
    ----------
    estimators_ : list of length n_labels * (n_labels - 1) / 2
        The classifiers of the pairs (0, 1), (0, 2), ..., (1, 2), ...; their class 1 is "the first label comes first".
        None for a pair without training instances or whose instances all agree, and for the pairs that an interrupted
        ``fit`` did not reach.
    pair_proba_ : ndarray of shape (n_labels, n_labels)
        The share of the training instances, by weight, that prefer i to j among those that prefer one of them, 1/2
        where there are none. It is the prediction for pairs without a classifier.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where `X` has any.

    Notes
    -----
    The classifiers are fitted with `sample_weight` multiplied by the weights of the edges, where graphs have any. A
    classifier that does not accept weights raises an error then.

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
        **BaseRanker._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict"]), None],
        "voting": [StrOptions({"probability", "vote"})],
        "n_jobs": [Integral, None],
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

    def _checks(self) -> dict[str, Any]:
        tags = get_tags(self._classifier()).input_tags
        return {
            "accept_sparse": ["csr", "csc"] if tags.sparse else False,
            "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
        }

    def _learn(self, data: Training, progress: Progress) -> None:
        classifier, graphs = self._classifier(), data.graphs
        weighted = graphs.weight is not None or bool((data.weight != 1).any())
        self._check_classifier(classifier, weighted)
        k = len(self.labels_)
        n_pairs = k * (k - 1) // 2
        advice = "use a learner whose cost grows with the labels, such as LogLinearRanker"
        size = 8.0 * n_pairs + 1000.0 * min(n_pairs, graphs.n_edges)
        require_memory(size, f"a classifier for each of the {n_pairs} pairs of {k} labels", advice)
        self.pair_proba_ = pair_shares(graphs.pair_counts(data.weight))
        fitted = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(_fit_pair)(classifier, data.X, pair, weighted, self.labels_)
            for pair in graphs.label_pairs(data.weight)
        )

        def attributes(found: list[Any]) -> dict[str, Any]:
            return {"estimators_": found + [None] * (n_pairs - len(found))}

        self.estimators_ = attributes(progress.collect("pair", fitted, n_pairs, attributes))["estimators_"]

    def _classifier(self) -> Any:
        from sklearn.linear_model import LogisticRegression  # takes long to load, and is not always needed

        if self.estimator is not None:
            return self.estimator
        # Newton's method converges whatever the units of the features are, but needs a Hessian of their size squared.
        few = getattr(self, "n_features_in_", 0) <= _FEW_FEATURES
        return LogisticRegression(solver="newton-cholesky" if few else "lbfgs")

    def _check_classifier(self, classifier: Any, weighted: bool) -> None:
        """Raise if the classifier cannot do what `voting` or the weights require."""
        name = type(classifier).__name__
        if not is_classifier(classifier):
            raise ValueError(
                f"estimator must be a classifier, got {name}, which does not predict classes; use the corresponding "
                "classifier, such as RidgeClassifier for Ridge"
            )
        if self.voting == "probability" and not hasattr(classifier, "predict_proba"):
            raise ValueError(
                f'voting="probability" needs predict_proba, which {name} does not have; pass voting="vote", or wrap it '
                "in sklearn.calibration.CalibratedClassifierCV"
            )
        if weighted and not has_fit_parameter(classifier, "sample_weight"):
            raise ValueError(
                f"{name} takes no sample_weight, but the instances or the edges of y have weights; choose another "
                "estimator, or leave the weights out"
            )

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
        X = self._check_X(X)
        scores = np.zeros((X.shape[0], len(self.labels_)))
        for i, j, p in self._comparisons(X, self.voting):
            scores[:, i] += p
            scores[:, j] += 1 - p
        # The order of summation must not break ties.
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
        X = self._check_X(X)
        require_pair_matrices((X.shape[0], len(self.labels_)))
        proba = np.full((X.shape[0], len(self.labels_), len(self.labels_)), 0.5)
        for i, j, p in self._comparisons(X, "probability"):
            proba[:, i, j], proba[:, j, i] = p, 1 - p
        return proba

    def _comparisons(self, X: Any, voting: str) -> Iterator[tuple[int, int, Any]]:
        """For each pair i < j, P(i before j) or the vote for i: one number for each instance, or one for all."""
        pairs = itertools.combinations(range(len(self.labels_)), 2)
        for (i, j), classifier in zip(pairs, self.estimators_, strict=True):
            if classifier is None:
                share = self.pair_proba_[i, j]
                yield i, j, share if voting == "probability" else 0.5 + 0.5 * np.sign(share - 0.5)
            else:
                yield i, j, classifier.predict_proba(X)[:, 1] if voting == "probability" else classifier.predict(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        of_pairs = get_tags(self._classifier())
        tags.input_tags.sparse = of_pairs.input_tags.sparse
        tags.input_tags.allow_nan = of_pairs.input_tags.allow_nan
        tags.non_deterministic = of_pairs.non_deterministic
        return tags


def _fit_pair(estimator: Any, X: Any, pair: LabelPair, weighted: bool, labels: npt.NDArray[Any]) -> Any:
    """Fit the classifier of a pair; None if there are not two classes."""
    if not len(pair.first) or pair.first.min() == pair.first.max():
        return None
    parameters = {"sample_weight": pair.weight} if weighted else {}
    try:
        with config_context(skip_parameter_validation=False):  # the parameters of the classifier are the user's
            return clone(estimator).fit(X[pair.rows], pair.first, **parameters)
    except Exception as error:
        error.add_note(f"in the classifier of the labels {labels[pair.i]!r} and {labels[pair.j]!r}")
        raise
