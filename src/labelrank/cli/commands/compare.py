"""``labelrank compare``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from labelrank.cli.options import (
    DataSet,
    Encoding,
    Ignore,
    Jobs,
    Json,
    KindOption,
    Labels,
    MaxBytes,
    ReportFile,
    Seed,
    Separator,
    Text,
    UnsolvedOption,
    check_jobs,
)

EXAMPLE = "labelrank compare tickets.csv --labels 'score_*' --metric tau,top1 --report compare.html"


class Format(StrEnum):
    """Output formats."""

    table = "table"
    csv = "csv"
    json = "json"
    markdown = "markdown"


class MissingHow(StrEnum):
    """Ways to hide labels; see :func:`labelrank.mask_rankings`."""

    random = "random"
    top = "top"


def compare(
    data: DataSet = "iris",
    rankers: Annotated[
        str | None, typer.Option(help="Compare only these rankers, separated by commas.", show_default="all")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="tau, tau_b, tau_x, rho, ndcg, top1, zero_one, disagreement, domination or dominated; separate "
            "several by commas. The table is sorted by the first.",
            show_default="tau",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 10,
    repeats: Annotated[int, typer.Option(min=1, help="Repetitions of the cross-validation.")] = 5,
    missing: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of labels to hide in the training folds.")
    ] = 0.0,
    missing_how: Annotated[
        MissingHow, typer.Option(help="Hide labels at random, or all but the top of each ranking.")
    ] = MissingHow.random,
    output: Annotated[Format, typer.Option("--format", "-f", help="Output format.")] = Format.table,
    as_json: Json = False,
    code: Annotated[
        bool,
        typer.Option("--code", metavar="", help="Print a Python program for this comparison, without running it."),
    ] = False,
    report: ReportFile = None,
    labels: Labels = None,
    kind: KindOption = None,
    text: Text = None,
    ignore: Ignore = None,
    unsolved: UnsolvedOption = None,
    separator: Separator = None,
    encoding: Encoding = None,
    max_bytes: MaxBytes = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Compare all rankers on a data set by repeated cross-validation."""
    from labelrank.cli.choices import choose_metrics, choose_rankers
    from labelrank.cli.code import program
    from labelrank.cli.comparison import Protocol, available_rankers, compare_rankers
    from labelrank.cli.comparison_text import print_comparison
    from labelrank.cli.data import read_data, warn_columns
    from labelrank.cli.progress import progress_bar
    from labelrank.cli.reporting import check_report, report_comparison

    metrics = choose_metrics(metric or ["tau"])
    check_jobs(jobs)
    if report is not None:
        check_report(report, data)
    reading = {
        "labels": labels,
        "kind": None if kind is None else kind.value,
        "text": text,
        "ignore": ignore,
        "unsolved": None if unsolved is None else unsolved.value,
        "separator": separator,
        "encoding": encoding,
        "max_bytes": max_bytes,
    }
    given: dict[str, Any] = {name: value for name, value in reading.items() if value is not None}
    given |= {"seed": seed} if data == "synthetic" else {}
    problem = read_data(data, **given).require(2)
    if folds > len(problem.target):
        raise ValueError(f"--folds {folds} needs at least as many instances; {problem.name} has {len(problem.target)}")
    warn_columns(problem)
    available = available_rankers(problem.data, seed, problem.text_columns, every=rankers is not None)
    chosen = choose_rankers(available, rankers)
    protocol = Protocol(folds, repeats, seed, missing, missing_how.value)
    if code:
        print(program(data, given, chosen, metrics, protocol))
        return
    with progress_bar("folds", len(chosen) * folds * repeats) as advance:
        comparison = compare_rankers(
            chosen, problem.data, problem.target, protocol, metrics=metrics, n_jobs=jobs, advance=advance
        )
    print_comparison(comparison, problem, "json" if as_json else output.value)
    if all(row.error for row in comparison.rows):
        raise typer.Exit(1)
    if report is not None:
        report_comparison(comparison, chosen, problem, seed).save(report)
        typer.echo(f"labelrank: {report} written", err=True)
