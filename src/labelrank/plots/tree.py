"""Drawing of a ranking tree, with a ranking and its spread in each leaf."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from labelrank.plots._axes import merged_style
from labelrank.plots._matplotlib import BLUE, GRAY, INK, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.text import Text

_LETTER, _HEIGHT = 0.078, 1.05  # inches per letter and per level in a new figure
_LINE = 40  # maximal number of letters in a line of a ranking


class TreeDisplay:
    """Drawing of a :class:`~labelrank.DecisionTreeRanker`.

    Parameters
    ----------
    tree : DecisionTreeRanker
        The fitted tree.
    max_depth : int, optional
        Depth to which nodes are drawn; dots represent the subtrees below.
    decimals : int, default=2
        Number of decimals of thresholds and spreads.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the drawing.
    figure_ : matplotlib Figure
        The figure of the axes.
    texts_ : list of matplotlib Text
        The boxes, in the order of the nodes.

    Examples
    --------
    >>> from labelrank import DecisionTreeRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> from labelrank.plots import TreeDisplay
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> display = TreeDisplay.from_estimator(DecisionTreeRanker(max_depth=2).fit(X, y))
    >>> len(display.texts_)
    5
    """

    ax_: Axes
    figure_: Figure | SubFigure
    texts_: list[Text]

    def __init__(self, tree: Any, *, max_depth: int | None = None, decimals: int = 2) -> None:
        if not hasattr(tree, "children_left_"):
            check_is_fitted(tree)
        if not hasattr(tree, "export_text"):
            raise TypeError(f"TreeDisplay draws a single tree, got {type(tree).__name__}; see its estimators_")
        self.tree = tree
        self.max_depth = max_depth
        self.decimals = decimals

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        max_depth: int | None = None,
        decimals: int = 2,
        ax: Axes | None = None,
        **text_kwargs: Any,
    ) -> TreeDisplay:
        """Draw a fitted tree.

        Parameters
        ----------
        estimator : DecisionTreeRanker
            The fitted tree.
        max_depth, decimals
            As in :class:`TreeDisplay`.
        ax, **text_kwargs
            As in :meth:`plot`.

        Returns
        -------
        TreeDisplay
        """
        return cls(estimator, max_depth=max_depth, decimals=decimals).plot(ax, **text_kwargs)

    def plot(self, ax: Axes | None = None, **text_kwargs: Any) -> TreeDisplay:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure of suitable size.
        **text_kwargs
            Passed to ``ax.text`` for the boxes, such as ``fontsize``.

        Returns
        -------
        self
        """
        from labelrank.trees.text import ranking_texts, split_text, spreads

        tree = self.tree
        left, right = tree.children_left_, tree.children_right_
        deepest = np.inf if self.max_depth is None else self.max_depth
        places, depths = _places(left, right, deepest)
        n_columns, n_levels = max(places.values()) + 1, max(depths.values()) + 1
        rankings = [wrap(text, _LINE, break_long_words=False) for text in ranking_texts(tree)]
        theta = spreads(tree)
        width = 0.45 + _LETTER * max(18, *(len(line) for lines in rankings for line in lines))
        height = _HEIGHT + 0.15 * (max(len(lines) for lines in rankings) - 1)
        size = (max(4.0, width * n_columns), max(1.5, height * n_levels + 0.3))
        ax = axes_or_new(ax, "TreeDisplay.plot", size)
        from matplotlib.text import Text

        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9, "color": INK, "zorder": 2}
        style = merged_style(style, text_kwargs, Text)
        self.texts_ = []
        for node in sorted(places):
            x, y = places[node], -depths[node]
            leaf = left[node] < 0
            if leaf:
                text = (
                    "\n".join(rankings[node])
                    + f"\nθ = {theta[node]:.{self.decimals}f}, {tree.n_node_samples_[node]} rows"
                )
            elif depths[node] >= deepest:
                text = f"…\n{tree.n_node_samples_[node]} rows"
            else:
                condition, otherwise = split_text(tree, node, self.decimals)
                text = condition.replace("<=", "≤") + ("\nmissing: no" if otherwise.endswith(" or missing") else "")
                for child, word, side in ((left[node], "yes", "right"), (right[node], "no", "left")):
                    ax.plot([x, places[child]], [y, -depths[child]], color=GRAY, linewidth=1, zorder=1)
                    middle = (x + places[child]) / 2
                    ax.text(middle, y - 0.5, f" {word} ", ha=side, va="bottom", fontsize=8, color=GRAY)
            box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": BLUE if leaf else GRAY}
            self.texts_.append(ax.text(x, y, text, bbox=box, **style))
        ax.set(xlim=(-0.6, n_columns - 0.4), ylim=(0.45 - n_levels, 0.4))
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _places(left: Any, right: Any, deepest: float) -> tuple[dict[int, float], dict[int, int]]:
    """Horizontal position and depth of the nodes to draw: leaves side by side, parents centered over their children."""
    places: dict[int, float] = {}
    depths: dict[int, int] = {0: 0}
    n_leaves = 0
    stack = [(0, False)]
    while stack:
        node, children_done = stack.pop()
        if left[node] < 0 or depths[node] >= deepest:
            places[node] = float(n_leaves)
            n_leaves += 1
        elif children_done:
            places[node] = (places[int(left[node])] + places[int(right[node])]) / 2
        else:
            children = int(left[node]), int(right[node])
            for child in children:
                depths[child] = depths[node] + 1
            stack += [(node, True), (children[1], False), (children[0], False)]
    return places, depths
