"""Forests of ranking trees: random forests and extremely randomised trees."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelrank._compat import Interval, fit_context
from labelrank.rankers.base import OnEmpty
from labelrank.supervision import ranks_from_scores
from labelrank.trees.base import TreeRankerMixin, scores_of
from labelrank.trees.data import FloatArray, TreeData
from labelrank.trees.growth import Growth, Nodes, grow_tree, importances
from labelrank.trees.tree import Criterion, DecisionTreeRanker, paths

_NODE_ARRAYS = (
    "children_left_", "children_right_", "feature_", "threshold_", "missing_left_", "node_weight_", "n_node_samples_",
    "impurity_", "pair_balance_"
)  # fmt: skip


class _Forest(TreeRankerMixin, BaseEstimator):
    """What both forests share; they differ in how a tree looks for its thresholds and in their defaults."""

    _parameter_constraints: ClassVar[dict[str, Any]] = TreeRankerMixin._parameter_constraints | {
        "n_estimators": [Interval(numbers.Integral, 1, None, closed="left")],
        "bootstrap": ["boolean"],
        "oob_score": ["boolean"],
        "n_jobs": [numbers.Integral, None],
    }
    _splitter: ClassVar[Literal["best", "random"]]

    n_estimators: int
    bootstrap: bool
    oob_score: bool
    n_jobs: int | None
    random_state: Any
    tree_offsets_: npt.NDArray[np.int64]
    seeds_: npt.NDArray[np.int64]
    feature_importances_: FloatArray
    oob_score_: float
    oob_decision_function_: FloatArray

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances; NaN is a missing value.
        y : rank matrix or PreferenceGraphs of shape (n_samples, n_labels)
            What was observed: complete or not, with ties, cycles, and weights of edges.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the instances.

        Returns
        -------
        self
        """
        if self.oob_score and not self.bootstrap:
            raise ValueError("oob_score=True needs rows that a tree has not seen: set bootstrap=True")
        data, y, weight = self._prepare(X, y, sample_weight, sort=self._splitter == "best")
        growth = self._growth(data, weight)
        # All seeds are drawn first, so that the trees do not depend on the number of threads.
        rng = check_random_state(self.random_state)
        self.seeds_ = rng.randint(np.iinfo(np.int32).max, size=self.n_estimators).astype(np.int64)
        jobs = (delayed(_grow)(data, weight, growth, int(seed), self.bootstrap) for seed in self.seeds_)
        if self.n_jobs in (None, 1):
            trees = [function(*args, **kwargs) for function, args, kwargs in jobs]
        else:
            trees = Parallel(n_jobs=self.n_jobs, prefer="threads")(jobs)
        self._keep(trees)
        self.tree_offsets_ = np.concatenate([[0], np.cumsum([len(tree.left) for tree in trees])])
        self.feature_importances_ = _mean_importances(trees, len(data.x))
        for name in ("oob_score_", "oob_decision_function_"):
            if hasattr(self, name):
                delattr(self, name)
        if self.oob_score:
            self._score_out_of_bag(data, y, weight)
        return self

    def _score_out_of_bag(self, data: TreeData, y: Any, weight: FloatArray) -> None:
        from labelrank.metrics import kendall_tau

        out = np.stack([_bootstrap_counts(int(seed), weight) == 0 for seed in self.seeds_])
        scores = scores_of(self._mean_balance(np.ascontiguousarray(data.x.T), out), data.n_labels)
        seen: npt.NDArray[np.bool_] = np.asarray(out.any(axis=0))
        if not seen.any():
            raise ValueError(
                f"oob_score=True: no row was left out of any of the {self.n_estimators} trees; take more trees or rows"
            )
        self.oob_decision_function_ = np.where(seen[:, None], scores, np.nan)
        rows = np.flatnonzero(seen & (weight > 0))
        self.oob_score_ = kendall_tau(y[rows], ranks_from_scores(scores[rows]), sample_weight=weight[rows])

    def _offsets(self) -> npt.NDArray[np.int64]:
        return self.tree_offsets_

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """The leaf in which each instance ends, in each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_estimators)
            Numbers of nodes, counted from the root of each tree.
        """
        return self._leaves(X)

    def decision_path(self, X: Any) -> tuple[sparse.csr_array, npt.NDArray[np.int64]]:
        """The nodes that each instance passes, in all trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        indicator : sparse CSR array of shape (n_samples, n_nodes)
            1 for each node on the way from a root to a leaf.
        offsets : ndarray of shape (n_estimators + 1,)
            The columns of tree t are ``offsets[t]:offsets[t + 1]``.
        """
        leaves = self._leaves(X)
        blocks = [paths(leaves[:, t], tree._parents()) for t, tree in enumerate(self.estimators_)]
        return sparse.csr_array(sparse.hstack(blocks, format="csr")), self.tree_offsets_.copy()

    @property
    def estimators_(self) -> list[DecisionTreeRanker]:
        """The trees one by one: fitted ``DecisionTreeRanker`` that share the arrays of the forest."""
        check_is_fitted(self)
        shared = ("labels_", "n_features_in_", "feature_names_in_", "is_categorical_", "categories_", "had_missing_")
        settings = {name: value for name, value in self.get_params().items() if name in _TREE_PARAMETERS}
        trees = []
        for t, seed in enumerate(self.seeds_):
            nodes = slice(self.tree_offsets_[t], self.tree_offsets_[t + 1])
            tree = DecisionTreeRanker(**settings | {"splitter": self._splitter, "random_state": int(seed)})
            for name in shared:
                if hasattr(self, name):
                    setattr(tree, name, getattr(self, name))
            for name in _NODE_ARRAYS:
                setattr(tree, name, getattr(self, name)[nodes])
            tree.feature_importances_ = importances(
                Nodes(*(getattr(tree, n) for n in _NODE_ARRAYS)), self.n_features_in_
            )
            trees.append(tree)
        return trees

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = bool(self.bootstrap)  # which rows a tree sees depends on their order
        return tags


class RandomForestRanker(_Forest):
    """Random forest of ranking trees: each is grown on a bootstrap sample and tries a few features in a node.

    The probability that a label comes before another is the mean of what the trees say, and the ranking follows from
    these probabilities.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"pair_gini", "mallows"}, default="pair_gini"
        What makes a split good; see :class:`~labelrank.DecisionTreeRanker`.
    max_depth : int, optional
        Depth of a tree at most.
    min_samples_split : int, float or None, default=2
        Weight of the rows that a node must have to be split; None for twice the number of labels.
    min_samples_leaf : int or float, default=1
        Weight of the rows that a leaf must have.
    max_leaf_nodes : int, optional
        Number of leaves of a tree at most.
    max_features : int, float, {"sqrt", "log2"} or None, default=0.5
        How many features are tried in a node: a number, a share, or all.
    ccp_alpha : float, default=0.0
        Cost-complexity pruning of each tree.
    shrinkage : float, default=0.1
        How many rows the parent counts in each pair of a node; see :class:`~labelrank.DecisionTreeRanker`.
    bootstrap : bool, default=True
        Whether a tree is grown on as many rows drawn with replacement, or on all rows. Rows without weight are not
        drawn.
    oob_score : bool, default=False
        Whether to predict each row by the trees that have not seen it.
    categorical_features : array-like, "from_dtype" or None, default=None
        Which features are categories.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For the samples and the features.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows of y without any observed pair.

    Attributes
    ----------
    estimators_ : list of DecisionTreeRanker
        The trees, made when asked for; they share the arrays below.
    tree_offsets_ : ndarray of shape (n_estimators + 1,)
        The nodes of tree t are ``tree_offsets_[t]:tree_offsets_[t + 1]`` in the arrays below.
    children_left_, children_right_, feature_, threshold_, missing_left_, n_node_samples_, node_weight_, impurity_, \
pair_balance_ : ndarray
        The nodes of all trees; see :class:`~labelrank.DecisionTreeRanker`. Children are counted from the root of their
        tree.
    seeds_ : ndarray of shape (n_estimators,)
        What each tree's random numbers start from.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean over the trees of the share of each feature in the decrease of the impurity.
    oob_score_ : float
        Mean Kendall tau of the predictions by trees that have not seen a row; with ``oob_score=True``.
    oob_decision_function_ : ndarray of shape (n_samples, n_labels)
        The scores of these predictions; NaN for a row that all trees have seen.
    had_missing_ : ndarray of shape (n_features_in_,)
        Which features had missing values in training.
    is_categorical_ : ndarray of shape (n_features_in_,)
        Which features are categories.
    categories_ : ndarray of shape (n_features_in_,)
        The values of the categories, only if `X` was a data frame with categories.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> from labelrank.datasets import load_iris_rankings
    >>> from labelrank.trees import RandomForestRanker
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> forest = RandomForestRanker(oob_score=True, random_state=0).fit(X, y)
    >>> print(f"{forest.oob_score_:.2f}")
    0.99
    """

    _splitter = "best"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Criterion = "pair_gini",
        max_depth: int | None = None,
        min_samples_split: float | None = 2,
        min_samples_leaf: float = 1,
        max_leaf_nodes: int | None = None,
        max_features: float | str | None = 0.5,
        ccp_alpha: float = 0.0,
        shrinkage: float = 0.1,
        bootstrap: bool = True,
        oob_score: bool = False,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.ccp_alpha = ccp_alpha
        self.shrinkage = shrinkage
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.on_empty = on_empty


class ExtraTreesRanker(_Forest):
    """Extremely randomised ranking trees: in a node, one threshold is drawn for each feature and the best is taken.

    The probability that a label comes before another is the mean of what the trees say, and the ranking follows from
    these probabilities. Faster than a random forest, as nothing is sorted.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"pair_gini", "mallows"}, default="pair_gini"
        What makes a split good; see :class:`~labelrank.DecisionTreeRanker`.
    max_depth : int, optional
        Depth of a tree at most.
    min_samples_split : int, float or None, default=2
        Weight of the rows that a node must have to be split; None for twice the number of labels.
    min_samples_leaf : int or float, default=1
        Weight of the rows that a leaf must have.
    max_leaf_nodes : int, optional
        Number of leaves of a tree at most.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        How many features are tried in a node: a number, a share, or all.
    ccp_alpha : float, default=0.0
        Cost-complexity pruning of each tree.
    shrinkage : float, default=0.1
        How many rows the parent counts in each pair of a node; see :class:`~labelrank.DecisionTreeRanker`.
    bootstrap : bool, default=False
        Whether a tree is grown on as many rows drawn with replacement, or on all rows. Rows without weight are not
        drawn.
    oob_score : bool, default=False
        Whether to predict each row by the trees that have not seen it; needs ``bootstrap=True``.
    categorical_features : array-like, "from_dtype" or None, default=None
        Which features are categories.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For the thresholds, the features and the samples.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows of y without any observed pair.

    Attributes
    ----------
    estimators_ : list of DecisionTreeRanker
        The trees, made when asked for; they share the arrays below.
    tree_offsets_ : ndarray of shape (n_estimators + 1,)
        The nodes of tree t are ``tree_offsets_[t]:tree_offsets_[t + 1]`` in the arrays below.
    children_left_, children_right_, feature_, threshold_, missing_left_, n_node_samples_, node_weight_, impurity_, \
pair_balance_ : ndarray
        The nodes of all trees; see :class:`~labelrank.DecisionTreeRanker`. Children are counted from the root of their
        tree.
    seeds_ : ndarray of shape (n_estimators,)
        What each tree's random numbers start from.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean over the trees of the share of each feature in the decrease of the impurity.
    oob_score_ : float
        Mean Kendall tau of the predictions by trees that have not seen a row; with ``oob_score=True``.
    oob_decision_function_ : ndarray of shape (n_samples, n_labels)
        The scores of these predictions; NaN for a row that all trees have seen.
    had_missing_ : ndarray of shape (n_features_in_,)
        Which features had missing values in training.
    is_categorical_ : ndarray of shape (n_features_in_,)
        Which features are categories.
    categories_ : ndarray of shape (n_features_in_,)
        The values of the categories, only if `X` was a data frame with categories.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> from sklearn.model_selection import KFold, cross_val_score
    >>> from labelrank.datasets import load_iris_rankings
    >>> from labelrank.trees import ExtraTreesRanker
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> forest = ExtraTreesRanker(random_state=0)
    >>> print(f"{cross_val_score(forest, X, y, cv=KFold(10, shuffle=True, random_state=0)).mean():.2f}")
    0.99
    """

    _splitter = "random"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Criterion = "pair_gini",
        max_depth: int | None = None,
        min_samples_split: float | None = 2,
        min_samples_leaf: float = 1,
        max_leaf_nodes: int | None = None,
        max_features: float | str | None = None,
        ccp_alpha: float = 0.0,
        shrinkage: float = 0.1,
        bootstrap: bool = False,
        oob_score: bool = False,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.ccp_alpha = ccp_alpha
        self.shrinkage = shrinkage
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.on_empty = on_empty


_TREE_PARAMETERS = set(DecisionTreeRanker().get_params())


def _bootstrap_counts(seed: int, weight: FloatArray) -> npt.NDArray[np.int64]:
    """How often each row was drawn for the tree with this seed; rows without weight are as good as not there."""
    rows = np.flatnonzero(weight)
    n = len(rows)
    counts = np.zeros(len(weight), dtype=np.int64)
    counts[rows] = np.bincount(np.random.default_rng(seed).integers(0, n, n), minlength=n)
    return counts


def _grow(data: TreeData, weight: FloatArray, growth: Growth, seed: int, bootstrap: bool) -> Nodes:
    if bootstrap:
        weight = weight * _bootstrap_counts(seed, weight)
    return grow_tree(data, weight, growth, seed)


def _mean_importances(trees: list[Nodes], n_features: int) -> FloatArray:
    """Mean over the trees that have a split; shares of 1."""
    found = [importances(tree, n_features) for tree in trees if len(tree.left) > 1]
    if not found:
        return np.zeros(n_features)
    mean = np.mean(found, axis=0)
    return mean / mean.sum() if mean.sum() > 0 else mean
