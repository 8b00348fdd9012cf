"""Validation of one partition by the local class, on the worker that holds it."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from labelrank._compat import num_samples
from labelrank.rankers.base import Training
from labelrank.rankers.empty import Observed
from labelrank.supervision import label_names
from labelrank.supervision.weights import row_weights

_ONE_AT_A_TIME = threading.Lock()  # warnings are caught for all threads of a process


class Facts(NamedTuple):
    """Metadata of a partition, for the client."""

    n_rows: int
    attributes: dict[str, Any]  # that the validation sets, such as labels_ and n_features_in_
    observed: Observed | None
    weight: float  # sum of the sample weights
    warned: list[tuple[type[Warning], str]]


class Shard(Training):
    """The validated training data of one partition: ``X``, ``graphs``, ``weight``, and ``facts`` about them."""

    facts: Facts


def validated(local: Any, at: int, X: Any, y: Any, weight: Any = None) -> Shard:
    """Validate one partition by the local class."""
    n_rows = num_samples(X)
    if not n_rows and not num_samples(y):
        with about_partition(at):
            row_weights(weight, 0)
        nothing: Any = None
        shard = Shard(nothing, nothing, nothing)
        shard.facts = Facts(0, _names_without_rows(X, y), None, 0.0, [])
        return shard
    local = clone(local)
    with about_partition(at), _ONE_AT_A_TIME, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = Training(*local._validate(X, y, None))._replace(weight=row_weights(weight, n_rows))
    shard = Shard(*data)
    attributes = {name: value for name, value in vars(local).items() if name.endswith("_")}
    observed = local._observed(data) if hasattr(local, "_observed") else None
    shard.facts = Facts(
        n_rows, attributes, observed, float(shard.weight.sum()), [(w.category, str(w.message)) for w in caught]
    )
    return shard


@contextmanager
def about_partition(at: int) -> Iterator[None]:
    """Context that adds the number of the partition to errors."""
    try:
        yield
    except Exception as error:
        error.add_note(f"This is about partition {at}; rows are counted from its first.")
        raise


def _names_without_rows(X: Any, y: Any) -> dict[str, Any]:
    """Attributes that can be compared although there are no rows."""
    found: dict[str, Any] = {}
    if len(X.shape) == 2:
        found["n_features_in_"] = X.shape[1]
    if hasattr(X, "columns"):
        found["feature_names_in_"] = np.asarray(X.columns, dtype=object)
    names = label_names(y)
    if names is not None:
        found["labels_"] = found["classes_"] = names
    return found
