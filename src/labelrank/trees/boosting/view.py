"""Single trees of a boosted model, for export and plots."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.trees.text import tree_text

_SHARED = ("n_features_in_", "feature_names_in_", "is_categorical_", "categories_", "had_missing_")
_NODES = (
    "children_left_",
    "children_right_",
    "feature_",
    "threshold_",
    "missing_left_",
    "category_set_",
    "n_node_samples_",
    "value_",
    "gain_",
)


class BoostedTree:
    """A tree of a boosted model; its leaves rank the labels by their contributions to the scores.

    Attributes
    ----------
    children_left_, children_right_, feature_, threshold_, missing_left_, n_node_samples_, value_, gain_ : ndarray
        Nodes, as in :class:`~labelrank.GradientBoostingRanker`.
    pair_balance_ : ndarray of shape (n_nodes, n_pairs)
        P(a before b) - P(b before a) for each pair a < b, from the values of the node alone.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.

    Examples
    --------
    >>> from labelrank import GradientBoostingRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> model = GradientBoostingRanker(max_iter=2, max_leaf_nodes=2).fit(X, y)
    >>> print(model.estimators_[0].export_text())
    |--- x2 <= 2.45
    ...
    """

    children_left_: Any
    children_right_: Any
    feature_: Any
    value_: FloatArray
    category_set_: Any

    def __init__(self, model: Any, number: int) -> None:
        nodes = slice(model.tree_offsets_[number], model.tree_offsets_[number + 1])
        for name in _NODES:
            setattr(self, name, getattr(model, name)[nodes])
        for name in _SHARED:
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        self.labels_ = model.labels_ if hasattr(model, "labels_") else np.arange(self.value_.shape[1])
        if hasattr(model, "outputs_2d_") and model.outputs_2d_:
            self.labels_ = model.classes_
        self.bin_edges_, self.left_bins_ = model.bin_edges_, model.left_bins_
        a, b = np.triu_indices(self.value_.shape[1], 1)
        self.pair_balance_ = np.tanh((self.value_[:, a] - self.value_[:, b]) / 2)

    def left_categories(self, node: int) -> list[Any]:
        """Categories that go left at a node with a categorical split."""
        feature = self.feature_[node]
        values = self.bin_edges_[feature]
        chosen = values[self.left_bins_[self.category_set_[node]][: len(values)]]
        names = getattr(self, "categories_", None)
        if names is None or names[feature] is None:
            return [f"{value:g}" for value in chosen]
        return [names[feature][int(value)] for value in chosen]

    def export_text(self, *, decimals: int = 2, max_depth: int | None = None) -> str:
        """Text of the tree, with a line for each split and each leaf.

        Parameters
        ----------
        decimals : int, default=2
            Number of decimals of thresholds and spreads.
        max_depth : int, optional
            Depth to which nodes are shown; below it, only the number of rows is.

        Returns
        -------
        str
            A leaf shows the ranking by its contributions to the scores, the theta of them, and its number of rows.
        """
        return tree_text(self, decimals=decimals, max_depth=max_depth)
