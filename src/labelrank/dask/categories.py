"""Categories of features in partitioned data frames."""

from __future__ import annotations

from typing import Any

import dask.dataframe as dd
import numpy as np
import numpy.typing as npt
from dask.delayed import delayed

from labelrank._arrays import BoolArray
from labelrank.dask.client import results
from labelrank.dask.estimator import DaskEstimatorMixin
from labelrank.dask.inputs import blocks_of
from labelrank.dask.partitions import Source
from labelrank.supervision.frames import frame_of
from labelrank.supervision.vectors import object_array
from labelrank.trees.categories import categorical_mask, encode, learn_categories


class DaskTreesMixin(DaskEstimatorMixin):
    """Learners of trees: the categories of a frame are those of all partitions, and are numbers from then on."""

    categories_: npt.NDArray[Any]
    is_categorical_: BoolArray
    feature_names_in_: npt.NDArray[Any]

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> Any:
        if not isinstance(X, Source) or not isinstance(X.X, dd.DataFrame):
            return super()._validate(X, y, sample_weight)
        chosen = self.categorical_features  # type: ignore[attr-defined]
        mask = categorical_mask(X.X._meta, chosen)
        if not mask.any():
            return super()._validate(X, y, sample_weight)
        frame, names = blocks_of(X.X, "X"), list(X.X.columns)
        if not hasattr(self, "categories_"):  # a warm start has some
            found = X.client.compute([delayed(_categories)(part, i, names, mask) for i, part in enumerate(frame.parts)])
            self.categories_ = _union(results(X.client, found))
        codes = [delayed(_encoded)(part, i, names, self.categories_) for i, part in enumerate(frame.parts)]
        given, X.X = X.X, frame._replace(parts=codes)
        self.is_categorical_, self.feature_names_in_ = mask, object_array(names)
        data = super()._validate(X, y, sample_weight)
        data.X = given
        return data

    def unfitted_local(self, **params: Any) -> Any:
        """An estimator of the local class with the parameters of this one, to be sent to workers."""
        if hasattr(self, "categories_"):
            params = {"categorical_features": self.is_categorical_, **params}
        return super().unfitted_local(**params)


def _union(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Categories of all partitions, in the order of the local class."""
    found = np.empty(len(parts[0]), dtype=object)
    for f in range(len(found)):
        if parts[0][f] is not None:
            values = {value for part in parts for value in part[f].tolist()}
            found[f] = object_array(sorted(values, key=lambda v: (str(type(v)), v)))
    return found


# --- On workers


def _categories(part: Any, at: int, names: list[Any], mask: BoolArray) -> npt.NDArray[Any]:
    return learn_categories(_frame(part, at, names), mask)


def _encoded(part: Any, at: int, names: list[Any], categories: npt.NDArray[Any]) -> Any:
    return np.asarray(encode(_frame(part, at, names), categories))


def _frame(part: Any, at: int, names: list[Any]) -> Any:
    if list(part.columns) != names:  # categories are those of columns by their place
        raise ValueError(
            f"partition {at} of X has the feature names {list(part.columns)}, the frame has {names}; give every "
            "partition the same columns in the same order"
        )
    frame = frame_of(part)
    assert frame is not None
    return frame
