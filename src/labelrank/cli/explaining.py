"""Implementation of ``labelrank explain``: the ranking of a row, and why one label is before another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from labelrank.cli.columns import closest
from labelrank.cli.failure import failing
from labelrank.cli.predictions import Predictor, explain_pair
from labelrank.cli.saved import SavedModel


@dataclass(frozen=True)
class ExplainedRow:
    """A row, its predicted ranking and an explanation."""

    row: int
    predicted: dict[str, Any]
    why: Any

    def text(self) -> str:
        """Return the output as text."""
        labels, scores = self.predicted["labels"][0], self.predicted["scores"][0]
        ranking = ", ".join(f"{label} ({score:.3g})" for label, score in zip(labels, scores, strict=True))
        lines = [f"row {self.row}: {ranking}"]
        if "confidence" in self.predicted:
            lines.append(f"confidence {self.predicted['confidence'][0]:.3f}")
        if "safe" in self.predicted:
            lines.append(f"safe: {self.predicted['safe'][0]}")
        return "\n".join([*lines, "", str(self.why)])

    def document(self) -> dict[str, Any]:
        """Return the output for JSON."""
        why = self.why
        parts = [
            {"item": item, why.value_name: value, "contribution": float(part)}
            for item, value, part in zip(why.items, why.values, why.contributions, strict=True)
        ]
        told = {name: getattr(why, name) for name in ("better", "worse", "order", "difference", "base", "method")}
        first = {name: np.asarray(values)[0] for name, values in self.predicted.items()}
        plain = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in first.items()}
        return {"row": self.row, **plain, **told, "contributions": parts}


def explain_row(
    saved: SavedModel,
    data: str,
    row: int,
    better: str | None = None,
    worse: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
) -> ExplainedRow:
    """Explain a row of a file."""
    start, x, background = 0, None, None
    for _, X in saved.batches(data, separator, encoding):
        background = X[:50] if background is None else background
        if row < start + X.shape[0]:
            x = X[row - start : row - start + 1]
            break
        start += X.shape[0]
    if x is None:
        raise ValueError(f"--row {row}: {data} has {start} rows, counted from 0")
    predicted = Predictor(saved.model, saved.labels)(x)
    order = predicted["labels"][0].tolist()
    if len(order) < 2:
        raise ValueError("the model has a single label, so there is nothing to explain")
    pair = [None if name is None else _label(name, order, option)
            for name, option in ((better, "--better"), (worse, "--worse"))]  # fmt: skip
    first = order[0] if pair[0] is None else pair[0]
    if pair[1] is None:
        place = order.index(first)
        pair[1] = order[place + 1] if place + 1 < len(order) else order[place - 1]
    if first == pair[1]:
        raise ValueError(f"--better and --worse are the same label, {first!r}")
    with failing("the model cannot be explained"):
        return ExplainedRow(row, predicted, explain_pair(saved.model, x, first, pair[1], background))


def _label(name: str, labels: list[Any], option: str) -> Any:
    by_text = {str(label): label for label in labels}
    if name not in by_text:
        known = ", ".join(sorted(by_text))
        raise ValueError(f"{option} {name}: the model has no such label{closest(name, by_text) or '.'} Known: {known}")
    return by_text[name]
