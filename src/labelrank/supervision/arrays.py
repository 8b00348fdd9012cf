"""Preference graphs as plain arrays and back, for files of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.supervision.graphs import PreferenceGraphs, as_graphs, is_graphs

_STORED = ("levels", "ranks", "indptr", "better", "worse")


def graph_arrays(y: Any) -> dict[str, npt.NDArray[Any]]:
    """Arrays of numbers and texts that hold graphs, or a rank matrix as it is; label names must be numbers or texts.

    Examples
    --------
    >>> from labelrank import PreferenceGraphs
    >>> from labelrank.supervision.arrays import graph_arrays, graphs_of_arrays
    >>> arrays = graph_arrays(PreferenceGraphs.from_multilabel([{"tea"}, {"milk"}]))
    >>> sorted(arrays)
    ['labels', 'levels', 'n_labels']
    >>> graphs_of_arrays(arrays)
    PreferenceGraphs(2 instances, 2 labels, 2 edges, storage='levels')
    """
    graphs = as_graphs(y)
    arrays: dict[str, Any] = {"n_labels": np.array(graphs.shape[1])}
    if not is_graphs(y):
        arrays["ranks"] = graphs.rank_values()
    elif graphs.is_ranked:
        arrays["levels"] = graphs.levels
    else:
        arrays |= {name: getattr(graphs, name) for name in ("indptr", "better", "worse")}
        if graphs.weight is not None:
            arrays["edge_weight"] = graphs.weight
    if graphs.has_names:
        names = graphs.labels.tolist()
        arrays["labels"] = np.array(names)
        if arrays["labels"].dtype == object or arrays["labels"].tolist() != names:
            raise TypeError(f"label names must be all texts or all numbers to be saved as an array, got {names}")
    return arrays


def graphs_of_arrays(arrays: Mapping[str, Any]) -> PreferenceGraphs:
    """The graphs of :func:`graph_arrays`."""
    stored = {name: arrays[name] for name in _STORED if name in arrays}
    labels = arrays["labels"].tolist() if "labels" in arrays else None
    n_labels = int(arrays["n_labels"])
    return PreferenceGraphs(n_labels=n_labels, labels=labels, weight=arrays.get("edge_weight"), **stored)
