"""Predictions of a fitted model over the partitions of a Dask collection."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask import delayed
from sklearn.utils.validation import check_is_fitted

from labelrank._compat import StrOptions, check_n_features, num_samples, validate_params
from labelrank.dask.client import same
from labelrank.dask.inputs import opened
from labelrank.dask.parts import parts_of
from labelrank.supervision import PreferenceGraphs
from labelrank.supervision.frames import frame_like
from labelrank.supervision.names import fitted_ranker, labels_of
from labelrank.trust.delegation import estimator_with, innermost

# Axes of a result beside its rows: "l" has the labels.
_AXES = {
    "predict": "l",
    "decision_function": "l",
    "predict_proba": "l",
    "predict_buckets": "l",
    "predict_set": "l",
    "pairwise_proba": "lm",
    "confidence": "",
    "predict_spread": "",
    "predict_partial": None,
}
PREDICTIONS = tuple(_AXES)


class Result(NamedTuple):
    """What a method returns for a partition."""

    method: str
    shape: tuple[int, ...] | None  # beside the rows; None for graphs
    dtype: Any
    labels: Any

    def of_labels(self, labels: Any) -> Result:
        """Return this result for other labels."""
        return self._replace(labels=labels, shape=None if self.shape is None else (len(labels),) * len(self.shape))

    def empty(self) -> Any:
        """The result of no rows."""
        if self.shape is None:
            names = self.labels if self.labels.dtype == object else None
            return PreferenceGraphs.from_rankings(np.empty((0, len(self.labels))), labels=names)
        return np.empty((0, *self.shape), dtype=self.dtype)

    def frame(self, X: Any, values: Any) -> Any:
        """Values with the index of `X` and, where there is one for each label, the names of the labels."""
        if self.shape:
            return frame_like(X, dict(zip(self.labels, values.T, strict=True)))
        return frame_like(X, {self.method: values})[self.method]


@validate_params(method=[StrOptions(set(_AXES))])
def predict(model: Any, X: Any, method: str = "predict", **arguments: Any) -> Any:
    """Predict over the partitions of a Dask collection, lazily.

    Parameters
    ----------
    model : fitted ranker
        Any ranker, :class:`~labelrank.ConformalRanker`, or a pipeline, a search or another meta-estimator around one.
        It is sent to each worker once.
    X : Dask array, Dask frame, or path of a parquet folder
        Instances, as the model takes them. Arrays are chunked by rows, with dense or SciPy-sparse blocks; their chunk
        sizes need not be known. Of a folder, the columns are read that the model was fitted with.
    method : {"predict", "decision_function", "pairwise_proba", "confidence", "predict_spread", "predict_partial", \
"predict_buckets", "predict_set", "predict_proba"}, default="predict"
        Method of the model, or of the ranker inside of it.
    **arguments
        Further arguments of the method. A Dask array or series, such as `groups`, has the partitions of `X`.

    Returns
    -------
    Dask array, Dask frame, Dask series, or list
        For an array, an array with the same chunks of rows. For a frame or a folder, a frame with the names of the
        labels, or a series, and the index of `X`; ``"pairwise_proba"`` is an array. ``"predict_partial"`` is a list of
        :class:`~dask.delayed.Delayed`, each :class:`~labelrank.PreferenceGraphs` of a partition.

    Examples
    --------
    >>> import dask.array as da
    >>> import labelrank.dask
    >>> from labelrank import LogLinearRanker
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> model = LogLinearRanker().fit(X, y)
    >>> ranks = labelrank.dask.predict(model, da.from_array(X, chunks=(50, -1)))
    >>> ranks.chunks
    ((50, 50, 50), (3,))
    >>> bool((ranks == model.predict(X)).all())
    True
    """
    check_is_fitted(model)
    result = _result(model, method)
    if arguments.get("label_features") is not None:  # of other labels than those of fit
        result = result.of_labels(np.arange(num_samples(arguments["label_features"])))
    X = opened(X, columns=_columns(model))
    if not isinstance(X, da.Array | dd.DataFrame | dd.Series):
        raise TypeError(
            f"X must be a Dask array, a Dask frame or the path of a parquet folder, got {type(X).__name__}; for local "
            f"data call {method} of the model"
        )
    if isinstance(X, da.Array) and X.ndim == 2 and not np.isnan(X.shape[1]):
        check_n_features(model, X, reset=False)
    by_rows = {name: value for name, value in arguments.items() if isinstance(value, da.Array | dd.Series)}
    _check_partitions(X, by_rows)
    is_frame = not isinstance(X, da.Array)
    as_frame = is_frame and result.shape is not None and len(result.shape) < 2
    others = {name: value for name, value in arguments.items() if name not in by_rows}
    others["model"] = delayed(same, pure=False)(model)  # one task, whose result is sent to workers
    work = partial(_of_partition, result=result, names=tuple(by_rows), as_frame=as_frame)
    if as_frame:
        meta = result.frame(X._meta, result.empty())
        return X.map_partitions(work, *by_rows.values(), meta=meta, align_dataframes=False, **others)
    if not is_frame and result.shape is not None:
        return _over_blocks(work, result, X, by_rows, others)
    parts = [delayed(work)(*rows, **others) for rows in zip(*map(parts_of, [X, *by_rows.values()]), strict=True)]
    if result.shape is None:
        return parts
    shape = (np.nan, *result.shape)
    return da.concatenate([da.from_delayed(part, shape, dtype=result.dtype) for part in parts])


def _result(model: Any, method: str) -> Result:
    """What a method of a model returns; raises if there is no such method."""
    inner, labels = estimator_with(model, method)[1], labels_of(model)
    dtype: Any = np.float64
    ranker = fitted_ranker(inner)
    axes = _AXES[method]
    if getattr(ranker, "outputs_2d_", True) is False and method != "predict_proba":  # a classifier of two classes
        axes, dtype = "", ranker.classes_.dtype if method == "predict" else dtype
    elif method == "predict_set" or (method == "predict" and hasattr(ranker, "outputs_2d_")):
        dtype = bool if method == "predict_set" else np.int64
    elif labels is None:  # scores of items
        axes = ""
    n_labels = 0 if labels is None else len(labels)
    return Result(method, None if axes is None else (n_labels,) * len(axes), dtype, labels)


def _of_partition(
    X: Any, *rows: Any, model: Any, result: Result, names: tuple[str, ...], as_frame: bool, **others: Any
) -> Any:
    """Predict a partition; `rows` has its part of the arguments called `names`."""
    X = X[0] if isinstance(X, list) else X  # blockwise gives a list of the chunks of columns
    if num_samples(X) == 0:
        values = result.empty()
    else:
        inner, transformed = innermost(model, _with_nan(X), result.method)
        values = getattr(inner, result.method)(transformed, **dict(zip(names, rows, strict=True)), **others)
    return result.frame(X, values) if as_frame else values


def _with_nan(X: Any) -> Any:
    """A partition in which a missing string is NaN, as in a local frame, and not the NA of the strings of Dask."""
    if not isinstance(X, pd.DataFrame):
        return X
    found = X.copy(deep=False)
    for name, dtype in X.dtypes.items():
        if isinstance(dtype, pd.StringDtype) and dtype.na_value is pd.NA:
            found[name] = X[name].astype(object).where(X[name].notna(), np.nan)
    return found


def _over_blocks(work: Any, result: Result, X: Any, by_rows: dict[str, Any], others: dict[str, Any]) -> Any:
    """An array of the results for the blocks of an array."""
    assert result.shape is not None
    axes = "lm"[: len(result.shape)]
    pairs = [item for value in by_rows.values() for item in (value, "i")]
    return da.blockwise(
        work, "i" + axes, X, "ij"[: X.ndim], *pairs, new_axes=dict(zip(axes, result.shape, strict=True)),
        dtype=result.dtype, meta=result.empty(), concatenate=False, align_arrays=False, **others,
    )  # fmt: skip


def _check_partitions(X: Any, by_rows: dict[str, Any]) -> None:
    """Raise if rows are cut, or if arguments are not partitioned as X is."""
    if isinstance(X, da.Array) and X.ndim > 1 and len(X.chunks[1]) > 1:
        raise ValueError(f"X has {len(X.chunks[1])} chunks of columns; rows must be whole: use X.rechunk({{1: -1}})")
    for name, value in by_rows.items():
        alike = value.npartitions == X.npartitions
        if alike and isinstance(X, da.Array) and isinstance(value, da.Array):
            known = [not np.isnan(sum(array.chunks[0])) for array in (X, value)]
            alike = not all(known) or value.chunks[0] == X.chunks[0]
        if not alike:
            raise ValueError(
                f"{name} is not partitioned as X is: it has {value.npartitions} partitions, X has "
                f"{X.npartitions}, or their numbers of rows differ; rechunk or repartition it"
            )


def _columns(model: Any) -> list[Any] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else list(names)
