"""Text of the nodes of a tree, for :meth:`~labelrank.DecisionTreeRanker.export_text` and for its drawing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from labelrank.supervision import ranks_from_scores
from labelrank.trees.prediction import balance_of, scores_of, spread_of


def split_text(tree: Any, node: int, decimals: int) -> tuple[str, str]:
    """Conditions for going left and for going right; with missing values if there were any in training."""
    feature, threshold = int(tree.feature_[node]), float(tree.threshold_[node])
    if tree.is_categorical_[feature] and hasattr(tree, "left_categories"):  # a set of them, in boosted trees
        names = ", ".join(str(category) for category in tree.left_categories(node))
        left, right = f"{_name(tree, feature)} in {{{names}}}", f"{_name(tree, feature)} not in {{{names}}}"
    else:
        left, right = _conditions(tree, feature, threshold, decimals)
    if not tree.had_missing_[feature] or np.isinf(threshold):
        return left, right
    return (f"{left} or missing", right) if tree.missing_left_[node] else (left, f"{right} or missing")


def _name(tree: Any, feature: int) -> str:
    names = getattr(tree, "feature_names_in_", None)
    return f"x{feature}" if names is None else str(names[feature])


def _conditions(tree: Any, feature: int, threshold: float, decimals: int) -> tuple[str, str]:
    name = _name(tree, feature)
    if tree.is_categorical_[feature]:
        categories = getattr(tree, "categories_", None)
        value = f"{threshold:g}"
        if categories is not None and categories[feature] is not None:
            value = str(categories[feature][int(threshold)])
        return f"{name} = {value}", f"{name} is not {value}"
    if np.isinf(threshold):
        return f"{name} is known", f"{name} is missing"
    return f"{name} <= {threshold:.{decimals}f}", f"{name} > {threshold:.{decimals}f}"


def ranking_texts(tree: Any) -> list[str]:
    """Ranking of each node: labels from best to worst, ``>`` between them, ``~`` between tied ones."""
    ranks = ranks_from_scores(scores_of(balance_of(tree), len(tree.labels_)))
    texts = []
    for row in ranks:
        order = np.argsort(row, kind="stable")
        words = [str(tree.labels_[order[0]])]
        for before, label in pairwise(order):
            words += ["~" if row[before] == row[label] else ">", str(tree.labels_[label])]
        texts.append(" ".join(words))
    return texts


def spreads(tree: Any) -> Any:
    """Theta of each node."""
    return spread_of(balance_of(tree), len(tree.labels_))


def tree_text(tree: Any, *, decimals: int, max_depth: int | None) -> str:
    """See :meth:`labelrank.DecisionTreeRanker.export_text`."""
    rankings, theta = ranking_texts(tree), spreads(tree)
    lines: list[str] = []
    stack: list[tuple[int, int, str]] = [(0, 0, "")]
    while stack:
        node, depth, condition = stack.pop()
        if condition:
            lines.append("|   " * (depth - 1) + "|--- " + condition)
        left, right = int(tree.children_left_[node]), int(tree.children_right_[node])
        lead = "|   " * depth + "|--- "
        if left < 0:
            lines.append(f"{lead}{rankings[node]}  theta {theta[node]:.{decimals}f}, {tree.n_node_samples_[node]} rows")
        elif max_depth is not None and depth >= max_depth:
            lines.append(f"{lead}... ({tree.n_node_samples_[node]} rows)")
        else:
            if_left, if_right = split_text(tree, node, decimals)
            stack += [(right, depth + 1, if_right), (left, depth + 1, if_left)]
    return "\n".join(lines)
