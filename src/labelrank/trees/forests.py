"""Forests of ranking trees: random forests and extremely randomized trees."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import BoolArray, FloatArray, IntArray
from labelrank._compat import Interval
from labelrank._memory import require_memory
from labelrank._threads import Stop, in_threads
from labelrank.rankers.base import OnEmpty, Progress, Training
from labelrank.supervision import ranks_from_scores
from labelrank.trees.base import NODE_ATTRIBUTES, BaseTreeRanker, Criterion, node_attributes
from labelrank.trees.growth import Grower, Nodes, importances
from labelrank.trees.prediction import leaves, parents_of, paths, scores_of
from labelrank.trees.tree import DecisionTreeRanker


class BaseForestRanker(BaseTreeRanker):
    """Base of the forests, which differ in how a tree looks for its thresholds and in their defaults."""

    _parameter_constraints: ClassVar[dict[str, Any]] = BaseTreeRanker._parameter_constraints | {
        "n_estimators": [Interval(numbers.Integral, 1, None, closed="left")],
        "bootstrap": ["boolean"],
        "oob_score": ["boolean"],
        "n_jobs": [numbers.Integral, None],
    }
    _splitter: ClassVar[Literal["best", "random"]]

    tree_offsets_: IntArray
    seeds_: IntArray
    oob_score_: float
    oob_decision_function_: FloatArray

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Criterion = "auto",
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

    def _learn(self, data: Training, progress: Progress) -> None:
        if self.oob_score and not self.bootstrap:
            raise ValueError("oob_score=True needs rows that a tree has not seen: set bootstrap=True")
        seeds = self._seeds(self.n_estimators)  # all at once, so that the trees do not depend on the number of threads

        def attributes(trees: list[Nodes]) -> dict[str, Any]:
            return node_attributes(trees, self._balance_name) | {
                "tree_offsets_": np.cumsum([0, *(len(tree.left) for tree in trees)]),
                "seeds_": seeds[: len(trees)],
                "feature_importances_": _mean_importances(trees, self.n_features_in_),
            }

        grown = self._check_size(self._grow(data, seeds))
        self._publish(attributes(progress.collect("tree", grown, self.n_estimators, attributes)))
        if self.oob_score:
            self._score_out_of_bag(data)

    def _grow(self, data: Training, seeds: IntArray) -> Iterator[Nodes]:
        """Grow the trees of some seeds, in their order."""
        work = partial(grow_tree, self._grower(data, self._splitter), data.weight, self.bootstrap)
        return in_threads(work, seeds.tolist(), self.n_jobs)

    def _check_size(self, trees: Iterator[Nodes]) -> Iterator[Nodes]:
        """Raise if all trees will need more memory than there is, judging by the first one."""
        for t, tree in enumerate(trees):
            if t == 0:
                size, advice = sum(array.nbytes for array in tree), "limit max_leaf_nodes, or grow fewer trees"
                if self.criterion_ != "vote_variance":
                    advice += ', or use criterion="vote_variance", whose leaves grow with the labels'
                what = f"{self.n_estimators} trees with {len(tree.left)} nodes and {len(self.labels_)} labels each"
                require_memory(2.0 * size * (self.n_estimators - 1), what, advice)
            yield tree

    def _score_out_of_bag(self, data: Training) -> None:
        from labelrank.metrics import kendall_tau

        weight = data.weight
        unseen = np.stack([_bootstrap_counts(int(seed), weight) == 0 for seed in self.seeds_])
        scored: BoolArray = np.asarray(unseen.any(axis=0))
        if not scored.any():
            raise ValueError(
                f"oob_score=True: no row was left out of any of the {len(unseen)} trees; take more trees or rows"
            )
        scores = self._from_balance(data.X, scores_of, unseen)
        self.oob_decision_function_ = np.where(scored[:, None], scores, np.nan)
        rows = np.flatnonzero(scored & (weight > 0))
        self.oob_score_ = kendall_tau(data.graphs[rows], ranks_from_scores(scores[rows]), sample_weight=weight[rows])

    def _offsets(self) -> IntArray:
        return self.tree_offsets_

    def apply(self, X: Any) -> IntArray:
        """Leaf of each instance in each tree.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_estimators)
            Numbers of nodes, counted from the root of each tree.
        """
        X = self._check_X(X)
        return leaves(self._trees(), X)

    def decision_path(self, X: Any) -> tuple[sparse.csr_array, IntArray]:
        """Nodes that each instance passes in all trees.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        indicator : sparse CSR array of shape (n_samples, n_nodes)
            1 for each node on the path from a root to a leaf.
        offsets : ndarray of shape (n_estimators + 1,)
            The columns of tree t are ``offsets[t]:offsets[t + 1]``.
        """
        trees = zip(self.apply(X).T, self.estimators_, strict=True)
        blocks = [paths(found, parents_of(tree.children_left_, tree.children_right_)) for found, tree in trees]
        return sparse.csr_array(sparse.hstack(blocks, format="csr")), self.tree_offsets_.copy()

    @property
    def estimators_(self) -> list[DecisionTreeRanker]:
        """The trees as fitted ``DecisionTreeRanker`` that share the arrays of the forest."""
        check_is_fitted(self)
        parameters = DecisionTreeRanker().get_params().keys() & self.get_params().keys()
        settings = {name: getattr(self, name) for name in parameters} | {"splitter": self._splitter}
        shared = ["labels_", "n_features_in_", "feature_names_in_", "is_categorical_", "categories_", "had_missing_"]
        shared.append("criterion_")
        trees = []
        for t, seed in enumerate(self.seeds_):
            nodes = slice(self.tree_offsets_[t], self.tree_offsets_[t + 1])
            tree = DecisionTreeRanker(**settings | {"random_state": int(seed)})
            tree._publish({name: getattr(self, name) for name in shared if hasattr(self, name)})
            names = NODE_ATTRIBUTES | {"balance": self._balance_name}
            arrays = Nodes(**{field: getattr(self, name)[nodes] for field, name in names.items()})
            tree._publish(node_attributes([arrays], self._balance_name))
            tree.feature_importances_ = importances(arrays, self.n_features_in_)
            trees.append(tree)
        return trees

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = bool(self.bootstrap)  # which rows a tree sees depends on their order
        return tags


class RandomForestRanker(BaseForestRanker):
    """Random forest of ranking trees, grown on bootstrap samples and with a random choice of features in each node.

    The probability that a label comes before another is the mean over the trees, and the ranking follows from these
    probabilities.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion, max_depth, min_samples_leaf, max_leaf_nodes, ccp_alpha, categorical_features, on_empty
        As in :class:`~labelrank.DecisionTreeRanker`, for each tree.
    min_samples_split : int, float or None, default=2
        Minimum weight of the rows of a node that is split; None is twice the number of labels.
    max_features : int, float, {"sqrt", "log2"} or None, default=0.5
        Number of features tried in a node: a number, a share, or all.
    shrinkage : float, default=0.1
        Number of rows that the parent counts in each pair of a node.
    bootstrap : bool, default=True
        Whether a tree is grown on a bootstrap sample, with as many rows drawn with replacement, or on all rows. Rows
        without weight are never drawn.
    oob_score : bool, default=False
        Whether to score the forest on rows that its trees have not seen; needs ``bootstrap=True``.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Determines the samples, the features and, in extra trees, the thresholds.

    Attributes
    ----------
    estimators_ : list of DecisionTreeRanker
        The trees, which share the arrays below. There are fewer than `n_estimators` if the fit was interrupted.
    tree_offsets_ : ndarray of shape (n_estimators + 1,)
        The nodes of tree t are ``tree_offsets_[t]:tree_offsets_[t + 1]`` in the arrays below.
    children_left_, children_right_, feature_, threshold_, missing_left_, n_node_samples_, node_weight_, impurity_, \
pair_balance_, vote_moments_ : ndarray
        Nodes of all trees, as in :class:`~labelrank.DecisionTreeRanker`; children are counted from the root of their
        tree.
    seeds_ : ndarray of shape (n_estimators,)
        Seed of the random numbers of each tree.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean over the trees of the share of each feature in the decrease of the impurity.
    oob_score_ : float
        Mean Kendall tau of the predictions by trees that have not seen a row, if `oob_score` is True.
    oob_decision_function_ : ndarray of shape (n_samples, n_labels)
        Scores of these predictions; NaN for a row that all trees have seen.
    criterion_, had_missing_, is_categorical_, categories_, labels_, n_features_in_
        As in :class:`~labelrank.DecisionTreeRanker`.

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
        criterion: Criterion = "auto",
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
        super().__init__(
            n_estimators, criterion=criterion, max_depth=max_depth, min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf, max_leaf_nodes=max_leaf_nodes, max_features=max_features,
            ccp_alpha=ccp_alpha, shrinkage=shrinkage, bootstrap=bootstrap, oob_score=oob_score,
            categorical_features=categorical_features, n_jobs=n_jobs, random_state=random_state, on_empty=on_empty,
        )  # fmt: skip


class ExtraTreesRanker(BaseForestRanker):
    """Extremely randomized ranking trees: a node draws one threshold for each feature and takes the best of them.

    Otherwise it is a :class:`RandomForestRanker`, whose parameters and attributes it has; only the defaults of
    `max_features` and `bootstrap` differ. It is faster, as nothing is sorted.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion, max_depth, min_samples_split, min_samples_leaf, max_leaf_nodes, ccp_alpha, shrinkage, oob_score, \
categorical_features, n_jobs, random_state, on_empty
        As in :class:`RandomForestRanker`.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number of features tried in a node: a number, a share, or all.
    bootstrap : bool, default=False
        Whether a tree is grown on a bootstrap sample or on all rows.

    Attributes
    ----------
    estimators_, tree_offsets_, seeds_, feature_importances_, ...
        As in :class:`RandomForestRanker`.

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


def grow_tree(grower: Grower, weight: FloatArray, bootstrap: bool, seed: int, stop: Stop) -> Nodes:
    """Grow the tree of a seed, on a bootstrap sample or on all rows."""
    return grower.grow(weight * _bootstrap_counts(seed, weight) if bootstrap else weight, seed, stop)


def _bootstrap_counts(seed: int, weight: FloatArray) -> IntArray:
    """How often each row was drawn for the tree with this seed; rows without weight never are."""
    rows = np.flatnonzero(weight)
    counts = np.zeros(len(weight), dtype=np.int64)
    counts[rows] = np.bincount(np.random.default_rng(seed).integers(0, len(rows), len(rows)), minlength=len(rows))
    return counts


def _mean_importances(trees: list[Nodes], n_features: int) -> FloatArray:
    """Mean over the trees that have a split, as shares of 1."""
    mean = np.sum([importances(tree, n_features) for tree in trees], axis=0)
    return mean / mean.sum() if mean.sum() > 0 else mean
