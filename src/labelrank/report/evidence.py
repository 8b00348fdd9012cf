"""Data for all sections of a report: a model, test data, and the predictions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state, get_tags

from labelrank._arrays import FloatArray
from labelrank._compat import num_samples, safe_indexing
from labelrank.plots._inputs import observed_for
from labelrank.supervision import PreferenceGraphs
from labelrank.supervision.frames import frame_of
from labelrank.supervision.names import fitted_ranker

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Evidence:
    """A model and its predictions for test data; labels are in the order of the observations.

    Attributes
    ----------
    model : fitted ranker
        The model.
    X : array, sparse matrix, data frame, or sequence of texts
        Instances.
    graphs : PreferenceGraphs of shape (n_samples, n_labels)
        Observed preferences.
    ranks : ndarray of shape (n_samples, n_labels)
        Predicted ranks.
    columns : ndarray of shape (n_labels,)
        Columns of the model's predictions in the order of the observations.
    labels : ndarray of shape (n_labels,)
        Names of the labels.
    known : ndarray of int
        Rows with an observed pair, in random order.
    seed : int
        Random seed of the sections.
    """

    model: Any
    X: Any
    graphs: PreferenceGraphs
    ranks: FloatArray
    columns: Rows
    labels: npt.NDArray[Any]
    known: Rows
    seed: int

    def sample(self, most: float) -> Rows:
        """Sorted random sample of at most `most` rows with an observed pair; at least one row if there is any."""
        return np.sort(self.known[: max(int(min(most, len(self.known))), 1)])

    def rows(self, rows: Rows) -> Any:
        """Instances of some rows."""
        return safe_indexing(self.X, rows)

    def on(self, rows: Rows) -> str:
        """Describe the rows that something was computed on, as part of a sentence."""
        if len(rows) == len(self.known):
            return f"{len(rows):,} row{'s' * (len(rows) != 1)}"
        return f"{len(rows):,} of {len(self.known):,} rows, drawn at random"

    @cached_property
    def is_ranked(self) -> bool:
        """Whether the observations are rankings, not single or weighted pairs."""
        return self.graphs.weight is None and self.graphs.is_layered

    @cached_property
    def names(self) -> list[str]:
        """Names of the labels as text."""
        return [str(name) for name in self.labels.tolist()]

    @cached_property
    def feature_names(self) -> list[str] | None:
        """Names of the columns of `X`; None if an instance is not a row of a table."""
        frame = frame_of(self.X)
        if frame is not None:
            return [str(name) for name in frame.columns]
        if len(getattr(self.X, "shape", ())) != 2:
            return None
        names = getattr(self.model, "feature_names_in_", None)
        if names is None or len(names) != self.X.shape[1]:
            names = [f"x{i}" for i in range(self.X.shape[1])]
        return [str(name) for name in names]

    def row_name(self, row: int) -> str:
        """Name of a row in the index of a frame, or its number."""
        index = getattr(self.X, "index", None) if hasattr(self.X, "iloc") else None
        return f"row {row}" if index is None or type(index).__name__ == "RangeIndex" else str(index[row])


def gather(model: Any, X: Any, y: Any, random_state: Any) -> Evidence:
    """Predict all instances and match the labels of the model with those of the observations."""
    if isinstance(X, (list, tuple)) and len(X) and not isinstance(X[0], (str, dict)):
        X = np.asarray(X)
    ranker = fitted_ranker(model)
    if ranker is None or get_tags(ranker).estimator_type != "ranker":
        found = type(model if ranker is None else ranker).__name__
        raise TypeError(f"model must be a fitted ranker, or a meta-estimator around one, got {found}")
    graphs, columns, labels = observed_for(model, y)
    if num_samples(X) != len(graphs):
        raise ValueError(f"X has {num_samples(X)} rows, but y has {len(graphs)}; pass as many rows of y as of X")
    if not len(graphs):
        raise ValueError("X and y have no rows; a report needs instances that the model was not fitted on")
    ranks = np.asarray(model.predict(X), dtype=np.float64)
    rng = check_random_state(random_state)
    known = rng.permutation(np.flatnonzero(graphs.has_pairs()))
    return Evidence(model, X, graphs, ranks[:, columns], columns, labels, known, int(rng.randint(2**31 - 1)))
