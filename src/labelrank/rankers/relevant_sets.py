"""What multilabel classifiers take as y: a matrix, sets of names, graphs, or a vector of two classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from labelrank.supervision import PreferenceGraphs, is_graphs


def relevant_sets(y: Any, n_samples: int, name: str) -> tuple[PreferenceGraphs, npt.NDArray[Any], bool]:
    """Graphs of the relevant sets, the names of the labels or the classes, and whether y has a column per label."""
    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if isinstance(y, Iterator):
        y = list(y)
    outputs_2d = is_graphs(y) or sparse.issparse(y) or hasattr(y, "columns") or not _is_vector(y)
    if outputs_2d:
        graphs = y if is_graphs(y) else PreferenceGraphs.from_multilabel(y)
        classes = graphs.labels
    else:
        graphs, classes = _relevant_class(y)
    if len(graphs) != n_samples:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_samples}, y has {len(graphs)}"
        )
    return graphs, classes, outputs_2d


def _is_vector(y: Any) -> bool:
    """Whether the rows are classes, and not sets of labels or rows of a matrix."""
    rows = np.asarray(y) if hasattr(y, "__array__") else y
    try:
        if isinstance(rows, (str, bytes, Mapping, Set)):
            raise TypeError("not one item for each example")
        first: Any = next(iter(rows), None)
    except TypeError:
        raise TypeError(
            "y must be a matrix of 0 and 1, a list with a set of labels for each example, PreferenceGraphs or a vector "
            f"of two classes, got {type(y).__name__}"
        ) from None
    return np.ndim(first) == 0 and not isinstance(first, Set)


def _relevant_class(y: Any) -> tuple[PreferenceGraphs, npt.NDArray[Any]]:
    """One label, relevant in the second class."""
    if np.ma.is_masked(y):
        raise ValueError("Input y is masked; drop the rows whose class is not known")
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity")
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported for a vector of classes; the type of the target is multiclass "
            f"with {len(classes)} classes. Give y as a 0/1 matrix with a column per label"
        )
    relevant = y == classes[-1] if len(classes) == 2 else np.zeros(len(y), dtype=bool)
    return PreferenceGraphs.from_multilabel(relevant[:, None].astype(np.int8)), classes
