"""Signs of pairs: what each instance says about each pair of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.supervision.graphs import as_graphs


def pair_signs(y: Any) -> npt.NDArray[np.int8] | npt.NDArray[np.float64]:
    """Sign of each pair a < b in each instance: positive where a is preferred, negative where b is.

    Parameters
    ----------
    y : array-like or data frame of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks or graphs.

    Returns
    -------
    ndarray of shape (n_samples, n_labels * (n_labels - 1) / 2)
        A column for each of the pairs (0, 1), (0, 2), ..., (1, 2), ..., in the order of ``np.triu_indices(n_labels,
        1)``; 0 where neither label is preferred. int8 with 1 and -1, or float64 with the weights of the edges as
        absolute values if the edges have weights.

    Examples
    --------
    >>> from labelrank.pairs import pair_signs
    >>> pair_signs([[1, 2, 3], [2, 1, float("nan")]])
    array([[ 1,  1,  1],
           [-1,  0,  0]], dtype=int8)
    """
    graphs = as_graphs(y)
    n, k = graphs.shape
    n_pairs = k * (k - 1) // 2
    if graphs.storage == "edges":
        edges = graphs.to_edges()
        low, high = np.minimum(edges.better, edges.worse), np.maximum(edges.better, edges.worse)
        signs = np.zeros((n, n_pairs), dtype=np.int8 if graphs.weight is None else np.float64)
        column = low * (2 * k - low - 1) // 2 + high - low - 1
        signs[edges.instance, column] = np.where(edges.better < edges.worse, 1, -1) * (
            1 if graphs.weight is None else graphs.weight
        )
        return signs
    by_pair = np.empty((n_pairs, n), dtype=np.int8)
    for rows, values in graphs.blocks_of_ranks():
        columns = np.ascontiguousarray(values.T)  # a comparison is one pass over neighboring numbers
        first = 0
        for a in range(k - 1):
            others = columns[a + 1 :]
            before, behind = columns[a] < others, columns[a] > others
            np.subtract(before.view(np.int8), behind.view(np.int8), out=by_pair[first : first + k - 1 - a, rows])
            first += k - 1 - a
    return by_pair.T
