"""Draw docs/_static/tree.svg, the tree on the page about trees; run it when the drawing changes."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import pandas as pd

from labelrank.datasets import load_iris_rankings
from labelrank.plots import TreeDisplay
from labelrank.trees import DecisionTreeRanker

mpl.rcParams["svg.hashsalt"] = "labelrank"
X, y = load_iris_rankings(return_X_y=True)
names = ["sepal length", "sepal width", "petal length", "petal width"]
rankings = pd.DataFrame(y, columns=["setosa", "versicolor", "virginica"])
tree = DecisionTreeRanker(max_leaf_nodes=4).fit(pd.DataFrame(X, columns=names), rankings)
display = TreeDisplay.from_estimator(tree, decimals=1)
folder = Path(__file__).with_name("_static")
display.figure_.savefig(folder / "tree.svg", metadata={"Date": None}, bbox_inches="tight")
