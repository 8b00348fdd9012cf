"""Drawings of trees."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from labelrank.datasets import load_iris_rankings
from labelrank.plots import TreeDisplay
from labelrank.trees import DecisionTreeRanker, ExtraTreesRanker

NAN = float("nan")


def test_boxes_of_a_tree():
    import matplotlib.pyplot as plt

    X, y = load_iris_rankings(return_X_y=True)
    tree = DecisionTreeRanker(max_depth=2).fit(X, y)
    display = TreeDisplay.from_estimator(tree, decimals=1)
    texts = [text.get_text() for text in display.texts_]
    assert len(texts) == len(tree.feature_)
    assert texts[0].startswith("x2 ≤")
    leaves = [text for text, left in zip(texts, tree.children_left_, strict=True) if left < 0]
    assert all("θ =" in text and " > " in text for text in leaves)
    places = [text.get_position() for text in display.texts_]
    assert len(set(places)) == len(places)
    cut = TreeDisplay(tree, max_depth=1).plot(plt.subplots()[1], size=7, c="k")
    assert cut.texts_[0].get_fontsize() == 7
    assert any("…" in text.get_text() for text in cut.texts_)
    X = np.r_[np.full(5, NAN), np.arange(35.0)][:, None]
    missing = DecisionTreeRanker().fit(X, np.where(np.arange(40)[:, None] < 20, [[1.0, 2]], [[2.0, 1]]))
    assert TreeDisplay.from_estimator(missing).texts_[0].get_text() == "x0 ≤ 14.50 or missing"
    with pytest.raises(NotFittedError):
        TreeDisplay(DecisionTreeRanker())
    with pytest.raises(TypeError, match="TreeDisplay draws a single tree, got ExtraTreesRanker"):
        TreeDisplay(ExtraTreesRanker(1).fit([[0.0], [1.0]], [[1, 2], [2, 1]]))
