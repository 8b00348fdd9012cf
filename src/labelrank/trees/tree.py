"""Label ranking trees: splits that make the rankings of the two sides agree more."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import IntArray
from labelrank._compat import StrOptions
from labelrank._threads import in_threads
from labelrank.rankers.base import OnEmpty, Progress, Training
from labelrank.trees.base import BaseTreeRanker, Criterion, node_attributes
from labelrank.trees.growth import importances
from labelrank.trees.prediction import leaves, parents_of, paths
from labelrank.trees.text import tree_text


class DecisionTreeRanker(BaseTreeRanker):
    r"""Label ranking tree: each leaf has a ranking and a spread, the confidence in it.

    A node is split at the threshold of a feature that makes the rankings on both sides agree most. Splits depend
    only on the pair counts of a node, :math:`N_{ab}`: the weight of its rankings with label a before label b, which are
    also defined for incomplete rankings, ties and graphs.

    - ``"pair_gini"`` minimizes the sum over both sides and all pairs of :math:`N_{ab} N_{ba} / (N_{ab} + N_{ba})`.
    - ``"vote_variance"`` minimizes the sum over both sides and all labels of the variance of their votes; its cost
      grows with the labels, and not with their pairs.
    - ``"mallows"`` maximizes :math:`w^+\theta^+ + w^-\theta^-`, where w is the weight of the rows on a side and
      :math:`\theta` the spread of the Mallows model around the majority in each pair.

    A node is a leaf if its rankings agree in every pair, or if it has fewer than `min_samples_split` rows. NaN in `X`
    is a missing value.

    Parameters
    ----------
    criterion : {"auto", "pair_gini", "vote_variance", "mallows"}, default="auto"
        Measure of the quality of a split. ``"auto"`` is ``"pair_gini"`` for up to 50 labels and ``"vote_variance"`` for
        more. ``"mallows"`` is the criterion of the label ranking trees of Cheng et al.; one random ranking is added to
        the rows of each side, so that :math:`\theta` of a single row is finite. ``"pair_gini"`` is as accurate,
        and faster on many rows, as its trees are less deep; with two labels it is the Gini criterion of
        classification trees.
    splitter : {"best", "random"}, default="best"
        Whether to try all thresholds of a feature, or one drawn at random between its smallest and its largest value in
        the node.
    max_depth : int, optional
        Maximum depth of the tree.
    min_samples_split : int or float, optional
        Minimum weight of the rows of a node that is split, by default twice the number of labels. Rows count by their
        weight here and in `min_samples_leaf`: a row with weight 2 is two rows. Weights that sum to 1 are one row, which
        gives a single leaf and a warning.
    min_samples_leaf : int or float, default=1
        Minimum weight of the rows of a leaf.
    max_leaf_nodes : int, optional
        Maximum number of leaves; the splits with the largest gain are made first.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number of features tried in a node: a number, a share, or all. Features that are constant in the node do not
        count.
    ccp_alpha : float, default=0.0
        Complexity parameter of cost-complexity pruning, which gives the smallest subtree with the least impurity +
        `ccp_alpha` times the number of leaves.
    shrinkage : float, default=1.0
        Number of rows c that the parent counts in each pair of a node: :math:`P(a \text{ before } b)` in the node is
        :math:`(N_{ab} + c P_\mathrm{parent})/(N_{ab} + N_{ba} + c)`, with 1/2 above the root. A pair that no row of the
        node has ordered is as in the parent, also if c is 0.
    categorical_features : array-like, "from_dtype" or None, default=None
        Features that are categories: a mask, indices, names of columns, or the columns of a data frame with a
        categorical type. A split is one category against all others; a category that was not seen in training is one of
        the others.
    random_state : int, RandomState instance or None, default=None
        Determines the thresholds of ``splitter="random"`` and the features that are tried.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows and labels of `y` without any observed pair.

    Attributes
    ----------
    children_left_, children_right_ : ndarray of shape (n_nodes,)
        Children of each node, -1 for a leaf. Node 0 is the root, and parents come before their children.
    feature_ : ndarray of shape (n_nodes,)
        Feature that a node is split on, -1 for a leaf.
    threshold_ : ndarray of shape (n_nodes,)
        Values up to the threshold go left; of a categorical feature, the value itself. NaN for a leaf.
    missing_left_ : ndarray of shape (n_nodes,)
        Whether missing values go left: learned, or with the heavier side if there were none in training.
    n_node_samples_ : ndarray of shape (n_nodes,)
        Number of rows.
    node_weight_ : ndarray of shape (n_nodes,)
        Weight of the rows.
    impurity_ : ndarray of shape (n_nodes,)
        For ``"pair_gini"`` the mean over pairs of :math:`2 N_{ab} N_{ba} / (N_{ab} + N_{ba})` per weight; for
        ``"vote_variance"`` half of the mean variance of the votes, scaled to -1, ..., 1; for ``"mallows"`` the
        difference of :math:`\theta` to the largest possible.
    pair_balance_ : ndarray of shape (n_nodes, n_labels * (n_labels - 1) / 2)
        P(a before b) - P(b before a) for each pair a < b, in the order of ``numpy.triu_indices``. Not with
        ``"vote_variance"``.
    vote_moments_ : ndarray of shape (n_nodes, n_labels + 1)
        With ``"vote_variance"`` alone: the mean votes of each label, from -1 for the last of all labels to 1 for the
        first, and the mean of their squares.
    criterion_ : str
        The criterion.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the decrease of the impurity.
    had_missing_ : ndarray of shape (n_features_in_,)
        Which features had missing values in training.
    is_categorical_ : ndarray of shape (n_features_in_,)
        Which features are categories.
    categories_ : ndarray of shape (n_features_in_,)
        Values of the categories, None for other features; only if `X` was a data frame with categories.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    labelrank.trees.ExtraTreesRanker, labelrank.trees.RandomForestRanker : Forests of such trees.
    labelrank.plots.TreeDisplay : Draws the tree.

    References
    ----------
    Cheng, Hühn, Hüllermeier: Decision tree and instance-based learning for label ranking. ICML 2009.

    Examples
    --------
    >>> from sklearn.model_selection import KFold, cross_val_score
    >>> from labelrank import DecisionTreeRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> tree = DecisionTreeRanker()
    >>> print(f"{cross_val_score(tree, X, y, cv=KFold(10, shuffle=True, random_state=0)).mean():.2f}")
    0.96
    >>> print(DecisionTreeRanker(max_depth=1).fit(X, y).export_text(decimals=1))
    |--- x2 <= ...
    """

    _parameter_constraints = BaseTreeRanker._parameter_constraints | {"splitter": [StrOptions({"best", "random"})]}

    def __init__(
        self,
        criterion: Criterion = "auto",
        *,
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: float | None = None,
        min_samples_leaf: float = 1,
        max_leaf_nodes: int | None = None,
        max_features: float | str | None = None,
        ccp_alpha: float = 0.0,
        shrinkage: float = 1.0,
        categorical_features: Any = None,
        random_state: Any = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.ccp_alpha = ccp_alpha
        self.shrinkage = shrinkage
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.on_empty = on_empty

    def _learn(self, data: Training, progress: Progress) -> None:
        grower, seeds = self._grower(data, self.splitter), self._seeds(1)
        (nodes,) = in_threads(lambda seed, stop: grower.grow(data.weight, int(seed), stop), seeds)
        self._publish(node_attributes([nodes], self._balance_name))
        self.feature_importances_ = importances(nodes, self.n_features_in_)

    def apply(self, X: Any) -> IntArray:
        """Leaf of each instance.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers of nodes.
        """
        X = self._check_X(X)
        return leaves(self._trees(), X)[:, 0]

    def decision_path(self, X: Any) -> sparse.csr_array:
        """Nodes that each instance passes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        sparse CSR array of shape (n_samples, n_nodes)
            1 for each node on the path from the root to the leaf.
        """
        return paths(self.apply(X), parents_of(self.children_left_, self.children_right_))

    def get_depth(self) -> int:
        """Depth of the tree: 0 for a single leaf."""
        check_is_fitted(self)
        depths = np.zeros(len(self.feature_), dtype=np.int64)
        for node in np.flatnonzero(self.feature_ >= 0):  # parents come first
            depths[[self.children_left_[node], self.children_right_[node]]] = depths[node] + 1
        return int(depths.max())

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return int(np.sum(self.children_left_ < 0))

    def export_text(self, *, decimals: int = 2, max_depth: int | None = None) -> str:
        """Text of the tree, with a line for each split and each leaf.

        Parameters
        ----------
        decimals : int, default=2
            Number of decimals of thresholds and spreads.
        max_depth : int, optional
            Depth to which nodes are shown; below it, only the number of rows.

        Returns
        -------
        str
            A leaf shows its ranking, its theta and its number of rows. A split shows where missing values go if its
            feature had any in training.
        """
        check_is_fitted(self)
        return tree_text(self, decimals=decimals, max_depth=max_depth)
