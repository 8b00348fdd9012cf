"""Implementation of ``labelrank evaluate``: metrics, calibration and coverage of a model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelrank import ConformalRanker, confidence, pairwise_proba
from labelrank.cli.choices import METRICS
from labelrank.cli.data import Problem
from labelrank.cli.failure import Failure, failing
from labelrank.cli.table import TextReport, TextTable
from labelrank.metrics import top_k_accuracy
from labelrank.supervision import as_graphs, label_names
from labelrank.supervision.names import in_order_of, labels_of, model_names
from labelrank.trust import expected_calibration_error
from labelrank.trust.delegation import has_proba

_PAIRS = 2**24  # largest number of pair probabilities for the calibration error
_SHOWN = ("tau", "rho", "ndcg", "top1", "top3", "zero_one", "disagreement")
_MEANINGS = {
    "tau": "Kendall's tau",
    "rho": "Spearman's rho",
    "ndcg": "NDCG",
    "top1": "top label right",
    "top3": "top label among the first 3",
    "zero_one": "rankings with an error",
    "disagreement": "pairs that are reversed",
}


@dataclass(frozen=True)
class Evaluation:
    """Results of a model on test data."""

    problem: Problem
    metrics: dict[str, tuple[float, float]]  # mean and standard error
    quarters: list[tuple[float, float, int]]  # mean confidence, mean tau, rows
    calibration_error: float | None
    coverage: tuple[float, float, float] | None  # target, found, and the share of asserted pairs

    @classmethod
    def of(cls, model: Any, problem: Problem) -> Evaluation:
        """Evaluate a model."""
        X, y = problem.data, as_graphs(problem.target)
        if not y.has_pairs().any():
            raise Failure(f"{problem.name} has no row in which a label is preferred to another")
        with failing(f"the model cannot be evaluated on {problem.name}"):
            ranks = np.asarray(model.predict(X), dtype=np.float64)
            ranks = in_order_of(label_names(y), ranks, model_names(model), ("the data", "the model"))
            if ranks.shape[1] != y.shape[1]:
                raise Failure(f"{problem.name} has {y.shape[1]} labels, and the model has {ranks.shape[1]}")
            values = {name: np.asarray(_metric(name)(y, ranks, average=None)) for name in _SHOWN if _applies(name, y)}
            quarters, calibration = [], None
            if has_proba(model):
                quarters = _quarters(confidence(model, X), values["tau"])
                calibration = _calibration(model, X, y)
            coverage = None
            if isinstance(model, ConformalRanker):
                coverage = (1 - model.alpha, model.coverage(X, problem.target), model.completeness(X))
        return cls(problem, {name: _mean(of) for name, of in values.items()}, quarters, calibration, coverage)

    def report(self) -> TextReport:
        """Return the results as tables."""
        size = " × ".join(f"{n} {what}" for what, n in self.problem.shape.items())
        rows = [
            [
                _MEANINGS[name],
                "–" if math.isnan(mean) else f"{mean:.3f}" + ("" if math.isnan(error) else f" ± {error:.3f}"),
            ]
            for name, (mean, error) in self.metrics.items()
        ]
        tables = [TextTable("", ["metric", "mean"], rows, [[False, False]] * len(rows))]
        if self.quarters:
            names = ("least sure", "", "", "most sure")[-len(self.quarters) :]
            cells = [[name or "·", f"{sure:.3f}", f"{tau:.3f}", str(n)]
                     for name, (sure, tau, n) in zip(names, self.quarters, strict=True)]  # fmt: skip
            header = ["quarter", "confidence", "tau", "rows"]
            tables.append(TextTable("by confidence", header, cells, [[False] * 4] * len(cells)))
        findings = []
        if self.calibration_error is not None and not math.isnan(self.calibration_error):
            findings.append(f"pair probabilities are off by {self.calibration_error:.3f} on average")
        if self.coverage is not None:
            asked, found, asserted = self.coverage
            findings.append(
                f"the safe part is right for {found:.1%} of the rows (target {asked:.1%}) and orders {asserted:.1%} of "
                "the pairs"
            )
        return TextReport([f"{self.problem.name}: {size}"], tables, findings, "mean ± standard error over the rows")

    def document(self) -> dict[str, Any]:
        """Return the results for JSON."""

        def plain(value: float) -> float | None:
            return None if math.isnan(value) else value

        document: dict[str, Any] = {
            "data": {"name": self.problem.name, **{f"n_{what}": n for what, n in self.problem.shape.items()}},
            "metrics": {name: {"mean": plain(m), "error": plain(e)} for name, (m, e) in self.metrics.items()},
            "quarters": [{"confidence": sure, "tau": plain(tau), "rows": n} for sure, tau, n in self.quarters],
            "calibration_error": None if self.calibration_error is None else plain(self.calibration_error),
        }
        if self.coverage is not None:
            names = ("wanted", "found", "completeness")
            document["coverage"] = {name: plain(value) for name, value in zip(names, self.coverage, strict=True)}
        return document


def _metric(name: str) -> Any:
    if name == "top3":
        return lambda y, ranks, average: top_k_accuracy(y, ranks, k=3, average=average)
    return METRICS[name].function


def _applies(name: str, y: Any) -> bool:
    return (name != "top3" or y.shape[1] > 3) and (name not in ("rho", "ndcg", "top1", "top3") or y.is_ranked)


def _mean(values: Any) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if not len(known):
        return math.nan, math.nan
    return float(known.mean()), float(known.std(ddof=1) / math.sqrt(len(known))) if len(known) > 1 else math.nan


def _quarters(sure: Any, tau: Any) -> list[tuple[float, float, int]]:
    """Mean confidence, mean tau and number of rows in quarters by confidence."""
    known = np.flatnonzero(~np.isnan(tau))
    order = known[np.argsort(sure[known], kind="stable")]
    parts = [part for part in np.array_split(order, 4) if len(part)]
    return [(float(sure[part].mean()), float(tau[part].mean()), len(part)) for part in parts]


def _calibration(model: Any, X: Any, y: Any) -> float:
    labels: Any = labels_of(model)
    rows = np.arange(min(len(y), max(1, _PAIRS // len(labels) ** 2)))
    proba = pairwise_proba(model, X[: len(rows)])
    names = label_names(y)
    if names is not None and model_names(model) is not None:
        place = {name: i for i, name in enumerate(labels.tolist())}
        columns = [place[name] for name in names]
        proba = proba[:, columns][:, :, columns]
    return expected_calibration_error(y[rows], proba)
