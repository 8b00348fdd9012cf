"""Predictions as rows: names of the labels best first, scores, confidence, what is safe, and why."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from labelrank import AutoRanker, ConformalRanker, confidence, explain
from labelrank.cli.failure import failing
from labelrank.supervision import orders_from_ranks
from labelrank.trust.delegation import has_proba

_BACKGROUND = 50  # rows that stand for the usual ones where a model has no exact explanation
_REASONS = 3


class Predictor:
    """A model, and what is to be told of each instance.

    Parameters
    ----------
    model : fitted ranker
    labels : ndarray of shape (n_labels,)
        Its labels.
    top : int, optional
        Number of labels to name, by default all.
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
        """Return the columns of no predictions."""
        columns: dict[str, Any] = {"labels": np.empty((0, self.top), dtype=object), "scores": np.empty((0, self.top))}
        more = {"confidence": has_proba(self.model), "safe": isinstance(self.model, ConformalRanker)}
        return columns | {name: [] for name, wanted in more.items() if wanted}

    def _safe(self, X: Any) -> Any:
        """The asserted part of each ranking, such as ``tea>milk=water``, where = says that nothing is asserted."""
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
        """The first rows, as a background."""
        if self.background is None:
            self.background = X[:_BACKGROUND]
        return self.background


def explain_pair(model: Any, x: Any, better: Any, worse: Any, background: Any) -> Any:
    """Explain exactly where the model can be, and otherwise against some rows."""
    inside = model.estimator_ if isinstance(model, ConformalRanker) else model
    if not isinstance(inside, AutoRanker) or inside.method_ == "single":
        try:
            return explain(model, x, better, worse)
        except ValueError as error:
            if "background" not in str(error):
                raise
    return explain(model, x, better, worse, background=background)


def order_text(order: list[Any]) -> str:
    """``tea>milk=water`` of an order with ties."""
    return ">".join("=".join(map(str, part)) if isinstance(part, tuple) else str(part) for part in order)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "missing" if value is None else str(value)[:40]


def as_frame(found: dict[str, Any], kept: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return predictions as a flat table: label_1, label_2, …, score_1, …, and the rest."""
    columns: dict[str, Any] = {} if kept is None else {series.name: series for series in kept}
    for name, values in found.items():
        if name in ("labels", "scores"):
            for place, column in enumerate(values.T, start=1):
                texts = name == "labels"
                columns[f"{name[:-1]}_{place}"] = pl.Series(list(map(str, column)) if texts else column)
        else:
            columns[name] = pl.Series(name, values)
    return pl.DataFrame(columns)


def as_records(found: dict[str, Any], kept: pl.DataFrame | None = None) -> list[dict[str, Any]]:
    """Return predictions as objects for JSON, with lists of labels and scores."""
    lists = {name: values.tolist() if hasattr(values, "tolist") else values for name, values in found.items()}
    rows = [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    return rows if kept is None else [a | b for a, b in zip(kept.to_dicts(), rows, strict=True)]
