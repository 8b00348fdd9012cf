"""The Bunch that loaders and readers return."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import Bunch

from labelrank.datasets._columns import frame_of_matrix
from labelrank.datasets._files import DataFile, PathLike


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
    data: Any,
    target: Any,
    feature_names: Sequence[str],
    label_names: Iterable[Any],
    descr: str,
    *,
    as_frame: bool = False,
    file: DataFile | None = None,
    **more: Any,
) -> Bunch:
    """Bunch with the fields that all loaders and readers share; `file` has the limit of matrices that become frames."""
    labels = names_array(label_names)
    if as_frame:
        data, target = frame_of_matrix(data, feature_names, file), frame_of_matrix(target, labels, file)
    return Bunch(data=data, target=target, feature_names=feature_names, label_names=labels, DESCR=descr, **more)
