"""Gradient-boosted trees for label ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.utils.metaestimators import available_if

from labelrank._arrays import FloatArray
from labelrank._memory import require_pair_matrices
from labelrank.decompositions import Decomposition, get_decomposition
from labelrank.losses import LogLinearLoss, Loss, PlackettLuceLoss, get_loss
from labelrank.rankers.base import BaseRanker, OnEmpty, Progress, Training
from labelrank.supervision import ranks_from_scores
from labelrank.trees.boosting.base import BoostedTreesMixin
from labelrank.trees.boosting.data import BoostingData
from labelrank.trees.categories import column_errors


def _has_probabilities(ranker: Any) -> bool:
    """Whether the loss is the likelihood of a model with pair probabilities."""
    if get_loss(ranker.loss) in (LogLinearLoss, PlackettLuceLoss):
        return True
    raise AttributeError(f"the loss {ranker.loss!r} has no probabilities; use 'log_linear' or 'plackett_luce'")


class GradientBoostingRanker(BoostedTreesMixin, BaseRanker):
    r"""Gradient-boosted trees on preference graphs.

    Scores are a sum of trees with a vector in each leaf. Each iteration grows one tree on the gradients
    :math:`g_{il}` and the curvatures :math:`h_{il}` of a loss with respect to the scores of all labels. With
    :math:`G_l` and :math:`H_l` their sums over the rows of a node, splits have the largest gain of
    :math:`\sum_l G_l^2 / (H_l + \lambda)`, and leaves the Newton steps :math:`-G_l / (H_l + \lambda)`. Features are
    binned; missing values and categories are supported natively. Labels that are not observed in a row have no
    gradient in it.

    Parameters
    ----------
    loss : {"log_linear", "plackett_luce", "squared"} or subclass of Loss, default="log_linear"
        The loss, which must have a curvature; see :mod:`labelrank.losses`.
    decomposition : str, Decomposition, callable or None, default="disagreement"
        Decomposition of the graphs, for losses that use one; None is the default of the loss. Other losses ignore the
        default and raise ValueError for anything else.
    learning_rate : float, default=0.1
        Factor of the values of the leaves.
    max_iter : int, default=300
        Maximum number of iterations, and of trees.
    max_leaf_nodes : int or None, default=31
        Maximum number of leaves of a tree; the splits with the largest gain are made first.
    max_depth : int or None, default=None
        Maximum depth of a tree.
    min_samples_leaf : int or float, default=5
        Minimum weight of the rows of a leaf; without `sample_weight`, their number.
    l2_regularization : float, default=1.0
        The penalty :math:`\lambda` on the values of the leaves.
    max_features : float, default=1.0
        Share of the features that are tried in a node, drawn at random.
    subsample : float, default=1.0
        Share of the rows that each tree is grown on, drawn at random without replacement.
    max_bins : int, default=255
        Maximum number of bins of a feature, at most 255; missing values have an additional bin.
    categorical_features : array-like, "from_dtype" or None, default="from_dtype"
        Categorical features: a mask, indices, names of columns, or the columns of a data frame with a categorical
        type. A split is a set of categories against the others; see the notes.
    early_stopping : bool or "auto", default="auto"
        Whether to hold out rows, and to stop when their loss no longer decreases; "auto" does so for more than 100,000
        rows.
    validation_fraction : float, default=0.1
        Share of the rows that are held out.
    n_iter_no_change : int, default=10
        Stop if none of this many iterations has decreased the loss of the held-out rows.
    tol : float, default=1e-7
        Decreases of the mean loss up to this are ignored.
    warm_start : bool, default=False
        Whether `fit` adds trees to those of the last call, up to `max_iter` trees.
    random_state : int, RandomState instance or None, default=None
        Determines the rows that are held out, and the rows and features that are drawn.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    checkpoint : path or tuple (path, n), optional
        File that the trees are written to after every n iterations, by default 10, and at the end. If it exists, `fit`
        resumes from it, with the same result as without an interruption; `fit` raises ValueError if it belongs to other
        data or parameters.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows of `y` without any observed pair, which have no effect.

    Attributes
    ----------
    n_iter_ : int
        Number of trees.
    baseline_ : ndarray of shape (n_labels,)
        Scores before the first tree, the best constant ones.
    train_score_ : ndarray of shape (n_iter_ + 1,)
        Negative mean training loss, before the first iteration and after each.
    validation_score_ : ndarray of shape (n_iter_ + 1,)
        Negative mean loss of the held-out rows; empty if there are none.
    loss_curve_ : ndarray of shape (n_iter_ + 1,)
        The mean training loss.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the gain of all splits.
    estimators_ : list of BoostedTree
        The trees, with a method ``export_text``; :class:`~labelrank.plots.TreeDisplay` draws them.
    tree_offsets_ : ndarray of shape (n_iter_ + 1,)
        The nodes of tree t are ``tree_offsets_[t]:tree_offsets_[t + 1]`` in the arrays below.
    children_left_, children_right_, feature_, bin_, threshold_, missing_left_, gain_, n_node_samples_ : ndarray
        Nodes of all trees. Children are numbered from the root of their tree; those of a leaf are -1. Values up to the
        threshold, that is bins up to the bin, go left.
    category_set_, left_bins_ : ndarray
        For a split by categories, the row of ``left_bins_`` with the bins that go left; 0 for other splits.
    value_ : ndarray of shape (n_nodes, n_labels)
        Contribution of a leaf to the scores.
    bin_edges_ : ndarray of shape (n_features_in_,)
        For each feature the thresholds between its bins, or its categories.
    is_categorical_, had_missing_ : ndarray of shape (n_features_in_,)
        Which features are categorical, and which had missing values in training.
    categories_ : ndarray of shape (n_features_in_,)
        Values of the categories, None for other features; only if `X` was a data frame with categories.
    seed_ : int
        Seed of the random numbers.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    labelrank.trees.GradientBoostingCoveringClassifier : Boosted trees for sets of relevant labels.
    labelrank.RandomForestRanker : A mean of deep trees.

    Notes
    -----
    Categories of a node are sorted by the projection of their Newton steps (smoothed by ten rows) on the first
    principal component of these steps, and split at one position of this order; categories with fewer than ten rows are
    sent to the right. If a feature has more than `max_bins` categories, only the most frequent ones get bins and the
    others are treated as missing, with a warning. Categories that were not seen in training are treated as missing too.

    An interrupted `fit` (control-C) warns and keeps the trees grown so far.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from labelrank import GradientBoostingRanker
    >>> from labelrank.datasets import load_wine_rankings
    >>> X, y = load_wine_rankings(return_X_y=True)
    >>> print(f"tau {cross_val_score(GradientBoostingRanker(max_iter=50), X, y).mean():.1f}")
    tau 0.9
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRanker._parameter_constraints,
        **BoostedTreesMixin._parameter_constraints,
        "loss": "no_validation",  # get_loss has the better message
        "decomposition": [str, Decomposition, callable, None],
    }

    def __init__(
        self,
        loss: str | type[Loss] = "log_linear",
        *,
        decomposition: str | Decomposition | Callable[..., Any] | None = "disagreement",
        learning_rate: float = 0.1,
        max_iter: int = 300,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: float = 5,
        l2_regularization: float = 1.0,
        max_features: float = 1.0,
        subsample: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.loss = loss
        self.decomposition = decomposition
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.subsample = subsample
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.on_empty = on_empty

    # --- fit

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> Training:
        X, checks = self._encode_fit(X), {"reset": not self._continues(), **self._checks()}
        with column_errors(X):
            data = Training(*self._validate_fit(X, y, sample_weight, on_empty=self.on_empty, **checks))
        self._set_categorical(data.X)
        return data

    def _learn(self, data: Training, progress: Progress) -> None:
        self._boost(BoostingData(*data, self._make_loss), progress)

    def _make_loss(self, graphs: Any, weight: FloatArray) -> Loss:
        loss, decomposition = get_loss(self.loss), self.decomposition
        if loss.default_decomposition is None and decomposition == "disagreement":
            decomposition = None  # the default is for losses with a decomposition
        return loss(graphs, None if decomposition is None else get_decomposition(decomposition), weight)

    # --- predict

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; NaN is a missing value.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Larger is better.
        """
        return self._scores(self._check_X(X))

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Scores of the labels after each iteration.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Yields
        ------
        ndarray of shape (n_samples, n_labels)
        """
        yield from self._staged_scores(self._check_X(X))

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """Rankings after each iteration.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Yields
        ------
        ndarray of shape (n_samples, n_labels)
            Ranks.
        """
        for scores in self.staged_decision_function(X):
            yield ranks_from_scores(scores)

    @available_if(_has_probabilities)
    def pairwise_proba(self, X: Any) -> FloatArray:
        """Probability that label i is before label j, according to the model of a single pair.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            ``1 / (1 + exp(f_j - f_i))``; 0.5 on the diagonal.
        """
        scores = self.decision_function(X)
        require_pair_matrices(scores.shape, copies=2)
        return np.asarray(expit(scores[:, :, None] - scores[:, None, :]))
