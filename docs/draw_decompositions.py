"""Draw docs/_static/decompositions.svg and learning_curve.svg, the pictures of the page on log-linear ranking.

Run it when the displays change; the same code gives the same files.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MinMaxScaler

from labelrank import LogLinearRanker, PreferenceGraphs
from labelrank.datasets import load_wine_rankings
from labelrank.plots import LossCurveDisplay, PreferenceGraphDisplay

STATIC = Path(__file__).with_name("_static")
EDGES = [(1, 2), (1, 4), (1, 5), (2, 3), (3, 1), (3, 5), (5, 2), (5, 4)]


def draw_decompositions() -> plt.Figure:
    """One graph, its four decompositions, and their errors under the ranking 1 2 3 4 5."""
    better, worse = zip(*EDGES, strict=True)
    graphs = PreferenceGraphs.from_pairs([0] * len(EDGES), better, worse, labels=[1, 2, 3, 4, 5])
    names = ["disagreement", "domination", "dominated", "zero_one"]
    figure, axes = plt.subplots(4, 1, figsize=(8.6, 8.8), layout="constrained")
    for ax, name in zip(axes, names, strict=True):
        PreferenceGraphDisplay.from_graphs(graphs, decomposition=name, ranks=[1, 2, 3, 4, 5], ax=ax)
    return figure


def draw_learning_curve() -> plt.Figure:
    """Boosting with its guarantee, and L-BFGS on the same loss."""
    X, y = load_wine_rankings(return_X_y=True)
    X = MinMaxScaler().fit_transform(X)
    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for solver in ("boosting", "lbfgs"):
            ranker = LogLinearRanker(solver=solver, alpha=0.1, max_iter=100).fit(X, y)
            style = {} if solver == "boosting" else {"color": "#009E73"}
            LossCurveDisplay.from_estimator(ranker, name=f'solver="{solver}"', ax=ax, **style)
    return figure


if __name__ == "__main__":
    mpl.rcParams["svg.hashsalt"] = "labelrank"
    for name, draw in {"decompositions": draw_decompositions, "learning_curve": draw_learning_curve}.items():
        figure = draw()
        figure.savefig(STATIC / f"{name}.svg", metadata={"Date": None, "Creator": None}, facecolor="white")
        lines = (STATIC / f"{name}.svg").read_text(encoding="utf-8").splitlines()
        (STATIC / f"{name}.svg").write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")
        plt.close(figure)
