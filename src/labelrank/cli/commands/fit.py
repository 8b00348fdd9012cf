"""``labelrank fit``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

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
    Seed,
    Separator,
    Text,
    UnsolvedOption,
    check_jobs,
)

EXAMPLE = "labelrank fit tickets.csv -o model.lrk --labels 'score_*' --budget 120"


def fit(
    data: DataSet,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="The model file to write.")],
    ranker: Annotated[
        str | None, typer.Option(metavar="NAME", help="Fit this ranker.", show_default="AutoRanker, which tries many")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the ranker; repeat it for others."),
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=1.0, help="Seconds that AutoRanker may take.", show_default="60")
    ] = None,
    conformal: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="ALPHA",
            help="Calibrate on a quarter of the rows, so that `predict` names the part of each ranking that is wrong "
            "with at most this probability, such as 0.1.",
        ),
    ] = None,
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
    as_json: Json = False,
) -> None:
    """Learn from a file and save the model.

    The model is evaluated by cross-validation. Label names, feature columns and the way the file was read are kept in
    the model file, so that predict, evaluate and explain need no options.
    """
    from labelrank.cli.data import read_data, warn_columns
    from labelrank.cli.output import check_model
    from labelrank.cli.streams import printable
    from labelrank.cli.training import choose_model, require_skops, save_model, train

    require_skops()
    check_jobs(jobs)
    check_model(output, data)
    problem = read_data(
        data,
        labels=labels,
        kind=kind,
        text=text,
        ignore=ignore,
        unsolved=unsolved,
        separator=separator,
        encoding=encoding,
        max_bytes=max_bytes,
        seed=seed,
    ).require(10)
    warn_columns(problem)
    if problem.n_empty:
        told = f"{problem.n_empty} of {len(problem.target)} instances have no label before another: not learned from"
        typer.echo(f"labelrank: {told}", err=True)
    chosen = choose_model(problem, ranker, settings or [], budget, seed, jobs)
    trained = train(chosen, problem, conformal, seed, jobs)
    save_model(trained, output, data)
    if as_json:
        print(json.dumps(trained.document(output), indent=2))
    else:
        print(printable(trained.text(output)))
