"""Inputs of displays: names of fitted models, and predictions in the order of the observed labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank.supervision import PreferenceGraphs, as_graphs
from labelrank.supervision.names import columns_for, fitted_ranker, labels_of


def name_of(estimator: Any) -> str:
    """Class name of the ranker in a model."""
    ranker = fitted_ranker(estimator)
    return type(estimator if ranker is None else ranker).__name__


def vector_of(values: Any, name: str) -> FloatArray:
    """Convert a sequence of numbers to a vector; raise ValueError for a single number."""
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1:
        hint = f"; for a single one pass [{values}]" if vector.ndim == 0 else ""
        raise ValueError(f"{name} must be a sequence of numbers, got {values!r}{hint}")
    return vector


class Observed(NamedTuple):
    """Observations, the columns of a model's predictions in the order of their labels, and the names of the labels."""

    graphs: PreferenceGraphs
    columns: npt.NDArray[np.intp]
    labels: npt.NDArray[Any]


def observed_for(estimator: Any, y: Any) -> Observed:
    """Match observations with the labels of a fitted model, by name if both have names."""
    graphs, labels = as_graphs(y), labels_of(estimator)
    names = graphs.labels if labels is None or graphs.has_names else labels
    return Observed(graphs, columns_for(estimator, graphs), names)
