"""A comparison as a table, CSV, JSON or Markdown; the progress bar."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from labelrank.cli.compare import Comparison, Metric, Row
from labelrank.cli.data import Problem

_ASCII = str.maketrans({"×": "x", "±": "+-", "↓": "-", "–": "-", "µ": "u"})


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[], None]]:
    """A progress bar on a terminal, nothing in a pipe; yields the function that moves it on."""
    # Both: with one of them piped the bar would end up in the file, or across the pager.
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield lambda: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("folds", total=total)
        yield lambda: bar.advance(task)


def print_report(comparison: Comparison, problem: Problem, how: str) -> None:
    """Print a comparison to standard output, and what went wrong on the way to standard error."""
    {"table": _print_table, "csv": _print_csv, "json": _print_json, "markdown": _print_markdown}[how](
        comparison, problem
    )
    for note in _notes(comparison, problem):
        print(f"labelrank: {note}", file=sys.stderr)


def _notes(comparison: Comparison, problem: Problem) -> Iterator[str]:
    if problem.n_empty:
        total = len(problem.target)
        # tau_x is the one metric that compares ties.
        ties = any(metric.name == "tau_x" for metric in comparison.metrics)
        scored = "only tau_x scores their ties" if ties else "not scored"
        yield f"{problem.n_empty} of {total} instances have no label before another: not learned from, {scored}"
    for row in comparison.rows:
        if row.error:
            yield f"{row.ranker} failed: {row.error}"
        elif row.warnings:
            total = len(row.fit_seconds)
            yield f"{row.ranker} warned in {len(row.warnings)} of {total} folds: {row.warnings[0]}"


def _best(comparison: Comparison, metric: Metric) -> float:
    means = [row.mean(metric.name) for row in comparison.rows]
    means = [mean for mean in means if not math.isnan(mean)]
    if not means:
        return math.nan
    return max(means) if metric.larger_is_better else min(means)


def _seconds(seconds: Any) -> str:
    """Median, which a fold that was held up does not move."""
    if not len(seconds):
        return "–"
    value = float(np.median(seconds))
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.0f} µs"


def _score(row: Row, metric: Metric, best: float) -> tuple[str, bool]:
    mean = row.mean(metric.name)
    if math.isnan(mean):
        return "–", False
    is_best = math.isclose(mean, best, rel_tol=1e-9, abs_tol=1e-12)
    return f"{'* ' if is_best else '  '}{mean:.3f} ± {row.std(metric.name):.3f}", is_best


def _heading(metric: Metric) -> str:
    return metric.name if metric.larger_is_better else f"{metric.name} ↓"


def _cells(comparison: Comparison) -> tuple[list[str], list[list[tuple[str, bool]]]]:
    header = ["ranker", *(_heading(metric) for metric in comparison.metrics), "fit", "predict"]
    best = {metric.name: _best(comparison, metric) for metric in comparison.metrics}
    rows = []
    for row in comparison.rows:
        scores = [_score(row, metric, best[metric.name]) for metric in comparison.metrics]
        times = [(_seconds(row.fit_seconds), False), (_seconds(row.predict_seconds), False)]
        rows.append([(row.ranker, bool(scores[0][1])), *scores, *times])
    return header, rows


def _footnote(comparison: Comparison) -> str:
    errors = ", ↓ smaller is better" if any(not metric.larger_is_better for metric in comparison.metrics) else ""
    folds = comparison.folds * comparison.repeats
    return f"mean ± standard deviation over {folds} folds, * best{errors}; median time per fold"


def _print_table(comparison: Comparison, problem: Problem) -> None:
    # A pipe has no width, and rich would cut the table to 80 columns.
    console = Console() if sys.stdout.isatty() else Console(width=10_000, color_system=None)

    def plain(text: str) -> str:
        return text.translate(_ASCII) if console.options.ascii_only else text

    header, rows = _cells(comparison)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    # On a narrow terminal a score goes on two lines, "* 0.395" and "± 0.018"; names and times stay whole.
    for i, name in enumerate(header):
        score = 0 < i <= len(comparison.metrics)
        width = max(8, *map(len, name.split())) if score else max(len(name), *(len(row[i][0]) for row in rows))
        table.add_column(plain(name), justify="right" if i else "left", no_wrap=not score, min_width=width)
    for row in rows:
        table.add_row(*(Text(plain(text), style="bold green" if best else "") for text, best in row))
    # Narrower still, lines that the terminal breaks are better than a table with holes.
    console.width = max(console.width, Measurement.get(console, console.options.update(width=10_000), table).minimum)
    console.print(Text.assemble((problem.name, "bold"), plain(f": {problem.size}")))
    console.print(Text(plain(comparison.protocol), style="dim"))
    console.print()
    console.print(table)
    console.print()
    console.print(Text(plain(_footnote(comparison)), style="dim"))


def _print_markdown(comparison: Comparison, problem: Problem) -> None:
    header, rows = _cells(comparison)
    print(f"**{problem.name}**: {problem.size}; {comparison.protocol}\n")
    print("| " + " | ".join(header) + " |")
    print("|---|" + "---:|" * (len(header) - 1))
    for row in rows:
        cells = [text.removeprefix("* ").strip() for text, _ in row]
        print("| " + " | ".join(f"**{c}**" if best else c for c, (_, best) in zip(cells, row, strict=True)) + " |")
    print(f"\n{_footnote(comparison).replace('* best', '**best**')}")


def _print_csv(comparison: Comparison, problem: Problem) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    scores = [f"{metric.name}_{part}" for metric in comparison.metrics for part in ("mean", "std")]
    writer.writerow(["data", "ranker", *scores, "fit_seconds", "predict_seconds", "folds"])
    for row in comparison.rows:
        values = [value for metric in comparison.metrics for value in (row.mean(metric.name), row.std(metric.name))]
        times = [_median(row.fit_seconds), _median(row.predict_seconds)]
        cells = ["" if math.isnan(value) else repr(value) for value in (*values, *times)]
        writer.writerow([problem.name, row.ranker, *cells, len(row.fit_seconds)])


def _median(values: Any) -> float:
    return float(np.median(values)) if len(values) else math.nan


def _print_json(comparison: Comparison, problem: Problem) -> None:
    def listed(values: Any) -> list[float | None]:
        return [None if math.isnan(value) else value for value in np.asarray(values).tolist()]

    document = {
        "data": {
            "name": problem.name,
            "n_instances": len(problem.target),
            "n_features": problem.n_features,
            "n_labels": problem.n_labels,
        },
        "protocol": {
            "folds": comparison.folds,
            "repeats": comparison.repeats,
            "seed": comparison.seed,
            "missing": comparison.missing,
            "missing_how": comparison.missing_how,
        },
        "results": [
            {
                "ranker": row.ranker,
                "error": row.error,
                "scores": {
                    name: {
                        "mean": listed([row.mean(name)])[0],
                        "std": listed([row.std(name)])[0],
                        "folds": listed(values),
                    }
                    for name, values in row.scores.items()
                },
                "fit_seconds": listed(row.fit_seconds),
                "predict_seconds": listed(row.predict_seconds),
            }
            for row in comparison.rows
        ],
    }
    print(json.dumps(document, indent=2))
