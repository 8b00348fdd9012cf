"""What a ranker gets wrong on one document: the graph of its topics, cut in three ways.

Topics stand in a tree: correct ones above their siblings, siblings above the rest. A log-linear ranker learns to rank
them from words; the picture shows a document with about a third of its preferences wrong.

    python examples/plot_decompositions.py
    python examples/plot_decompositions.py --save picture.svg
"""

from __future__ import annotations

import argparse

import matplotlib.pyplot as plt
import numpy as np

from labelrank import LogLinearRanker, PreferenceGraphs
from labelrank.datasets import make_multilabel_hierarchy
from labelrank.metrics import disagreement_error
from labelrank.plots import PreferenceGraphDisplay


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few documents, and no window")
    parser.add_argument("--save", metavar="FILE", help="write the picture instead of showing it")
    options = parser.parse_args()

    n_samples = 300 if options.quick else 3000
    X, Y, parents = make_multilabel_hierarchy(n_samples, n_labels=8, n_roots=3, random_state=0)
    graphs = PreferenceGraphs.from_hierarchy(Y, parents)
    half = len(graphs) // 2
    ranker = LogLinearRanker().fit(X[:half], graphs[:half])
    tested, ranks = graphs[half:], ranker.predict(X[half:])
    errors = [disagreement_error(graph, row[None]) for graph, row in zip(tested, ranks, strict=True)]
    three_layers = np.flatnonzero(tested.levels.max(axis=1) == 2)
    chosen = int(min(three_layers, key=lambda i: abs(errors[i] - 0.3)))
    print(f"disagreement error: mean {np.mean(errors):.3f}, document {chosen} {errors[chosen]:.3f}")

    figure, axes = plt.subplots(3, 1, figsize=(9, 8), layout="constrained")
    for ax, name in zip(axes, ["domination", "dominated", "zero_one"], strict=True):
        PreferenceGraphDisplay.from_graphs(tested, chosen, decomposition=name, ranks=ranks, ax=ax)
    if options.save:
        figure.savefig(options.save)
    elif not options.quick:
        plt.show()


if __name__ == "__main__":
    main()
