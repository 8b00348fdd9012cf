"""Rows of predictions: labels best first, scores, confidence, the safe part, and reasons."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl

from labelrank import ConformalRanker, confidence, explain
from labelrank.cli.failure import failing
from labelrank.supervision import orders_from_ranks
from labelrank.trust.delegation import has_proba

_BACKGROUND = 50  # background rows for models without exact explanations
_FEW = 10  # fewer background rows warn
_REASONS = 3


class Predictor:
    """Predictions of a model, with the columns that the options ask for.

    Parameters
    ----------
    model : fitted ranker
        The model.
    labels : ndarray of shape (n_labels,)
        Its labels.
    top : int, optional
        Number of labels to output, by default all.
    reasons : bool, default=False
        Explain why the first label is ranked before the second.
    """

    def __init__(self, model: Any, labels: Any, top: int | None = None, reasons: bool = False) -> None:
        if top is not None and top > len(labels):
            raise ValueError(f"--top {top} is more than the {len(labels)} labels of the model")
        self.model = model
        self.labels = labels
        self.top = top or len(labels)
        self.reasons = reasons and len(labels) > 1
        self.background: Any = None

    def __call__(self, X: Any) -> dict[str, Any]:
        """Return the columns of the predictions; "labels" and "scores" are matrices."""
        with failing("the model cannot be used on these data"):
            scores = np.asarray(self.model.decision_function(X), dtype=np.float64)
            order = np.argsort(-scores, axis=1, kind="stable")
            first = order[:, : self.top]
            found = {"labels": self.labels[first], "scores": np.take_along_axis(scores, first, axis=1)}
            if has_proba(self.model):
                found["confidence"] = confidence(self.model, X)
            if isinstance(self.model, ConformalRanker):
                found["safe"] = self._safe(X)
            if self.reasons:
                found["because"] = [self._reason(X[i : i + 1], row, X) for i, row in enumerate(order)]
        return found

    def nothing(self) -> dict[str, Any]:
        """Return empty columns."""
        columns: dict[str, Any] = {"labels": np.empty((0, self.top), dtype=object), "scores": np.empty((0, self.top))}
        more = {"confidence": has_proba(self.model), "safe": isinstance(self.model, ConformalRanker)}
        return columns | {name: [] for name, wanted in more.items() if wanted}

    def _safe(self, X: Any) -> Any:
        """The asserted part of each ranking, such as ``tea>milk=water``; ``=`` joins labels in unknown order."""
        if self.model.target == "top_k":
            chosen = self.model.predict_set(X)
            return np.array(["=".join(map(str, self.labels[row])) for row in chosen], dtype=object)
        ranks, place = np.unique(self.model.predict_buckets(X), axis=0, return_inverse=True)
        texts = [order_text(order) for order in orders_from_ranks(ranks, labels=list(self.labels))]
        return np.array(texts, dtype=object)[place.ravel()]

    def _reason(self, x: Any, order: Any, X: Any) -> str:
        why = explain_pair(self.model, x, self.labels[order[0]], self.labels[order[1]], self._rows(X))
        largest = np.argsort(-np.abs(why.contributions), kind="stable")[:_REASONS]
        shown = [i for i in largest if why.contributions[i] != 0]
        texts = [f"{why.items[i]}={_short(why.values[i])}".removesuffix("=") for i in shown]
        return ", ".join(f"{text} {why.contributions[i]:+.3g}" for text, i in zip(texts, shown, strict=True))

    def _rows(self, X: Any) -> Any:
        """Background: the first rows, which arrive one by one on a pipe."""
        if self.background is None:
            self.background = X[:_BACKGROUND]
        elif isinstance(X, pl.DataFrame) and len(self.background) < _BACKGROUND:
            self.background = self.background.vstack(X[: _BACKGROUND - len(self.background)])
        return self.background


def explain_pair(model: Any, x: Any, better: Any, worse: Any, background: Any) -> Any:
    """Explain exactly if the model supports it, otherwise with background rows."""
    try:
        return explain(model, x, better, worse)
    except ValueError as error:
        if "background" not in str(error):
            raise
    if background.shape[0] < _FEW:
        warnings.warn(
            "the model has no exact explanation, and the estimate by comparison with the first rows of the data is "
            "unreliable with few rows; give more rows",
            UserWarning,
            stacklevel=2,
        )
    return explain(model, x, better, worse, background=background)


def order_text(order: list[Any]) -> str:
    """Format an order with ties, such as ``tea>milk=water``."""
    return ">".join("=".join(map(str, part)) if isinstance(part, tuple) else str(part) for part in order)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "missing" if value is None else str(value)[:40]


def as_frame(found: dict[str, Any], kept: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return predictions as a flat table: label_1, label_2, …, score_1, …, and the rest."""
    columns: dict[str, Any] = {}
    for name, values in found.items():
        if name in ("labels", "scores"):
            for place, column in enumerate(values.T, start=1):
                texts = name == "labels"
                columns[f"{name[:-1]}_{place}"] = pl.Series(list(map(str, column)) if texts else column)
        else:
            columns[name] = pl.Series(name, values)
    return pl.DataFrame(columns if kept is None else _beside(kept, columns) | columns)


def as_records(found: dict[str, Any], kept: pl.DataFrame | None = None) -> list[dict[str, Any]]:
    """Return predictions as objects for JSON, with lists of labels and scores."""
    lists = {name: values.tolist() if hasattr(values, "tolist") else values for name, values in found.items()}
    rows = [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    if kept is None:
        return rows
    _beside(kept, lists)
    return [a | b for a, b in zip(kept.to_dicts(), rows, strict=True)]


def _beside(kept: pl.DataFrame, found: dict[str, Any]) -> dict[str, pl.Series]:
    """Columns to copy, by name; raises ValueError if predictions have a column of the same name."""
    if twice := [name for name in kept.columns if name in found]:
        raise ValueError(f"--keep names {twice[0]!r}, which is also a column of the predictions; rename it in the data")
    return {series.name: series for series in kept}
