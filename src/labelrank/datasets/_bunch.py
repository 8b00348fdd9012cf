"""The Bunch that loaders and readers return."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import Bunch

from labelrank.datasets._files import PathLike


def names_array(names: Iterable[Any]) -> npt.NDArray[Any]:
    """Names as an object array, which can be indexed by a row of labels."""
    listed = list(names)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def read_from(path: PathLike, n_samples: int, n_features: int, n_labels: int) -> str:
    """The line of DESCR that all readers share."""
    return f"Read from {Path(path).name}: {n_samples} instances, {n_features} features, {n_labels} labels."


def make_bunch(
    data: Any, target: Any, feature_names: Iterable[str], label_names: Iterable[Any], descr: str, **more: Any
) -> Bunch:
    """Bunch with the fields that all loaders and readers share."""
    return Bunch(
        data=data,
        target=target,
        feature_names=list(feature_names),
        label_names=names_array(label_names),
        DESCR=descr,
        **more,
    )
