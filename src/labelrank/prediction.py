"""Predictions as data frames with the names of the labels."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils import get_tags

from labelrank._compat import StrOptions, validate_params
from labelrank.supervision.frames import frame_like
from labelrank.supervision.names import fitted_ranker, labels_of


@validate_params(kind=[StrOptions({"ranks", "order", "scores", "long"})], k=[Integral, None])
def predict_frame(
    model: Any, X: Any, *, kind: Literal["ranks", "order", "scores", "long"] = "ranks", k: int | None = None
) -> Any:
    """Predictions as a data frame, with the names of the labels and the index of `X`.

    Parameters
    ----------
    model : fitted ranker
        A ranker, or a pipeline, a search or another meta-estimator around one.
    X : data frame, series or array-like of shape (n_samples, n_features)
        Instances.
    kind : {"ranks", "order", "scores", "long"}, default="ranks"
        - ``"ranks"``: a column per label, with its rank;
        - ``"order"``: a column per place, "1", "2", ..., with the name of the label;
        - ``"scores"``: a column per label, with its score, larger is better;
        - ``"long"``: a row per instance and label, best first, with the columns "row" (the number of the instance),
          "label", "rank" and, if the model has scores, "score".
    k : int, optional
        For ``"order"`` and ``"long"``: the best `k` labels only. Labels of the same rank are in the order of
        ``labels_``.

    Returns
    -------
    data frame
        From the same library as `X` and, if it has one, with its index. For an array, from polars or, if that is not
        installed, pandas. Labels become strings in libraries whose column names are strings.

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from labelrank import LogLinearRanker, predict_frame
    >>> X = pl.DataFrame({"age": [20, 25, 60, 70]})
    >>> y = pl.DataFrame({"tea": [3, 3, 1, 1], "milk": [2, 2, 2, 3], "cola": [1, 1, 3, 2]})
    >>> model = make_pipeline(StandardScaler(), LogLinearRanker()).fit(X, y)
    >>> predict_frame(model, X[:2]).rows(named=True)
    [{'tea': 3, 'milk': 2, 'cola': 1}, {'tea': 3, 'milk': 2, 'cola': 1}]
    >>> predict_frame(model, X, kind="order", k=1)["1"].to_list()
    ['cola', 'cola', 'tea', 'tea']
    """
    if k is not None and kind not in ("order", "long"):
        raise ValueError(f'k={k} is for kind="order" and kind="long"; kind={kind!r} has a column for every label')
    if kind == "scores":
        scores = np.asarray(model.decision_function(X))
        return frame_like(X, dict(zip(_labels(model, scores), scores.T, strict=True)))
    ranks = np.asarray(model.predict(X))
    labels = _labels(model, ranks)
    ranker = fitted_ranker(model)
    if get_tags(ranker).estimator_type != "ranker":
        raise TypeError(f'predict_frame(kind={kind!r}) needs a ranker, got {type(ranker).__name__}; use kind="scores"')
    ranks = ranks.astype(np.int64)
    if kind == "ranks":
        return frame_like(X, dict(zip(labels, ranks.T, strict=True)))
    if k is not None and not 1 <= k <= len(labels):
        raise ValueError(f"k must be between 1 and the number of labels, {len(labels)}, got {k}")
    best = np.argsort(ranks, axis=1, kind="stable")[:, :k]
    if kind == "order":
        return frame_like(X, {str(place + 1): labels[column] for place, column in enumerate(best.T)})
    row, column = np.repeat(np.arange(len(best)), best.shape[1]), best.ravel()
    table = {"row": row, "label": labels[column], "rank": ranks[row, column]}
    if hasattr(model, "decision_function"):
        table["score"] = np.asarray(model.decision_function(X))[row, column]
    return frame_like(X, table, rows=row)


def _labels(model: Any, predicted: Any) -> Any:
    labels = labels_of(model)
    if labels is None or predicted.ndim != 2 or predicted.shape[1] != len(labels):
        raise TypeError(
            f"predict_frame needs a ranker of labels, or a meta-estimator around one; found no labels_ for the "
            f"predictions of {type(model).__name__}, which have the shape {predicted.shape}"
        )
    return labels
