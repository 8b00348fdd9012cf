"""Inputs of displays: names of fitted models, and predictions in the order of the observed labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank.supervision import PreferenceGraphs, as_graphs, label_names
from labelrank.supervision.names import fitted_ranker, in_order_of, labels_of, model_names


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
    if labels is None:
        return Observed(graphs, np.arange(graphs.shape[1]), graphs.labels)
    if len(labels) != graphs.shape[1]:
        raise ValueError(f"y has {graphs.shape[1]} labels, but {name_of(estimator)} was fitted with {len(labels)}")
    columns = np.arange(len(labels))[np.newaxis]
    columns = in_order_of(label_names(graphs), columns, model_names(estimator), ("y", name_of(estimator)))
    return Observed(graphs, columns[0], graphs.labels if graphs.has_names else labels)
