"""The training set of each pair of labels: the instances that prefer one of the two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray, pointers
from labelrank.supervision.graphs import PreferenceGraphs, as_graphs
from labelrank.supervision.weights import row_weights


class LabelPair(NamedTuple):
    """The instances of positive weight that prefer one of two labels i < j to the other."""

    i: int
    j: int
    rows: npt.NDArray[np.intp]
    first: npt.NDArray[np.intp]  # 1 where i is preferred, 0 where j is
    weight: FloatArray  # of the instance times that of the edge


def label_pairs(y: Any, sample_weight: Any = None) -> Iterator[LabelPair]:
    """Iterate over the pairs of labels (0, 1), (0, 2), …, (1, 2), … with the instances that tell them apart.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the instances.

    Yields
    ------
    LabelPair
        Its rows are in ascending order; an instance with both directions of the pair is there twice.
    """
    graphs = as_graphs(y)
    k = graphs.shape[1]
    weight = row_weights(sample_weight, len(graphs))
    if graphs.storage == "edges":
        yield from _pairs_of_edges(graphs, weight)
        return
    columns = np.asfortranarray(graphs.rank_values())
    for i in range(k):
        for j in range(i + 1, k):
            a, b = columns[:, i], columns[:, j]
            rows = np.flatnonzero(((a < b) | (a > b)) & (weight > 0))
            yield LabelPair(i, j, rows, (a[rows] < b[rows]).astype(np.intp), weight[rows])


def _pairs_of_edges(graphs: PreferenceGraphs, weight: FloatArray) -> Iterator[LabelPair]:
    k = graphs.shape[1]
    edges = graphs.to_edges()
    votes = weight[edges.instance] * graphs.edge_weights()
    number = np.minimum(edges.better, edges.worse) * k + np.maximum(edges.better, edges.worse)
    by_pair = np.argsort(number, kind="stable")  # the instances of a pair stay in order
    by_pair = by_pair[votes[by_pair] > 0]
    ends = pointers(np.bincount(number[by_pair], minlength=k * k))
    for i in range(k):
        for j in range(i + 1, k):
            chosen = by_pair[ends[i * k + j] : ends[i * k + j + 1]]
            first = (edges.better[chosen] == i).astype(np.intp)
            yield LabelPair(i, j, edges.instance[chosen], first, votes[chosen])
