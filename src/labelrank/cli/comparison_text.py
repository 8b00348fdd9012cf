"""Print a comparison as a table, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from labelrank.cli.choices import Metric
from labelrank.cli.comparison import Comparison
from labelrank.cli.data import Problem
from labelrank.cli.table import TextReport, TextTable

LEVEL = 0.05  # of significance


def print_comparison(comparison: Comparison, problem: Problem, how: str) -> None:
    """Print a comparison to standard output, and errors and warnings of the rankers to standard error."""
    if how == "csv":
        _print_csv(comparison, problem)
    elif how == "json":
        _print_json(comparison, problem)
    else:
        _report(comparison, problem).print(how)
    for note in _notes(comparison, problem):
        print(f"labelrank: {note}", file=sys.stderr)


def _notes(comparison: Comparison, problem: Problem) -> Iterator[str]:
    if problem.n_empty:
        # tau_x is the only metric that compares ties.
        ties = any(metric.name == "tau_x" for metric in comparison.metrics)
        scored = "only tau_x scores their ties" if ties else "not scored"
        yield (
            f"{problem.n_empty} of {len(problem.target)} instances have no preferences: ignored in training, {scored}"
        )
    for row in comparison.rows:
        if row.error:
            yield f"{row.ranker} failed: {row.error}"
        elif row.warnings:
            total = len(row.fit_seconds)
            yield f"{row.ranker} warned in {len(row.warnings)} of {total} folds: {row.warnings[0]}"


def _report(comparison: Comparison, problem: Problem) -> TextReport:
    metrics = comparison.metrics
    best = [_best(comparison, metric) for metric in metrics]
    alike = [{name for name, p in comparison.p_values(metric).items() if p > LEVEL} for metric in metrics]
    texts, marks = [], []
    for row in comparison.rows:
        means = [row.mean(metric.name) for metric in metrics]
        scores = [f"{mean:.3f} ± {row.std(m.name):.3f}" for mean, m in zip(means, metrics, strict=True)]
        scores = ["–" if math.isnan(mean) else text for mean, text in zip(means, scores, strict=True)]
        scores = [f"≈ {text}" if row.ranker in like else text for text, like in zip(scores, alike, strict=True)]
        is_best = [math.isclose(mean, top, rel_tol=1e-9, abs_tol=1e-12) for mean, top in zip(means, best, strict=True)]
        texts.append([row.ranker, *scores, _seconds(row.fit_seconds), _seconds(row.predict_seconds)])
        marks.append([is_best[0], *is_best, False, False])
    headings = [metric.name if metric.larger_is_better else f"{metric.name} ↓" for metric in metrics]
    errors = "" if all(metric.larger_is_better for metric in metrics) else ", ↓ smaller is better"
    size = " × ".join(f"{n} {what}" for what, n in problem.shape.items())
    folds = comparison.protocol.folds * comparison.protocol.repeats
    return TextReport(
        [f"{problem.name}: {size}", str(comparison.protocol)],
        [TextTable("", ["ranker", *headings, "fit", "predict"], texts, marks)],
        footnote=f"mean ± standard deviation over {folds} folds, best marked, ≈ not significantly different from it at "
        f"{LEVEL:.0%}{errors}; median time per fold",
    )


def _best(comparison: Comparison, metric: Metric) -> float:
    best = comparison.best(metric)
    return math.nan if best is None else best.mean(metric.name)


def _median(seconds: Any) -> float:
    """Median, which is robust to single slow folds; NaN if there is none."""
    return float(np.median(seconds)) if len(seconds) else math.nan


def _seconds(seconds: Any) -> str:
    value = _median(seconds)
    if math.isnan(value):
        return "–"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.0f} µs"


def _print_csv(comparison: Comparison, problem: Problem) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    scores = [f"{metric.name}_{part}" for metric in comparison.metrics for part in ("mean", "std", "p")]
    p = {metric.name: comparison.p_values(metric) for metric in comparison.metrics}
    writer.writerow(["data", "ranker", *scores, "fit_seconds", "predict_seconds", "folds"])
    for row in comparison.rows:
        values = []
        for name in p:
            values += [row.mean(name), row.std(name), p[name].get(row.ranker, math.nan)]
        values += [_median(row.fit_seconds), _median(row.predict_seconds)]
        cells = ["" if math.isnan(value) else repr(value) for value in values]
        writer.writerow([problem.name, row.ranker, *cells, len(row.fit_seconds)])


def _print_json(comparison: Comparison, problem: Problem) -> None:
    def finite(values: Any) -> list[float | None]:
        return [None if math.isnan(value) else value for value in np.asarray(values).tolist()]

    results = []
    p = {metric.name: comparison.p_values(metric) for metric in comparison.metrics}
    for row in comparison.rows:
        scores = {}
        for name, values in row.scores.items():
            mean, std = finite([row.mean(name), row.std(name)])
            scores[name] = {"mean": mean, "std": std, "p": p[name].get(row.ranker), "folds": finite(values)}
        seconds = {"fit_seconds": finite(row.fit_seconds), "predict_seconds": finite(row.predict_seconds)}
        results.append({"ranker": row.ranker, "error": row.error, "scores": scores, **seconds})
    document = {
        "data": {"name": problem.name, **{f"n_{what}": n for what, n in problem.shape.items()}},
        "protocol": asdict(comparison.protocol),
        "results": results,
    }
    print(json.dumps(document, indent=2))
