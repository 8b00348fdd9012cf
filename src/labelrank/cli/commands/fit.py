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
        str | None, typer.Option(metavar="NAME", help="Ranker to fit.", show_default="AutoRanker, which compares many")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Parameter of the ranker; can be repeated."),
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=1.0, help="Time budget of AutoRanker in seconds.", show_default="60")
    ] = None,
    conformal: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="ALPHA",
            help="Calibrate on a quarter of the rows, so that `predict` outputs the part of each ranking that is wrong "
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
    """Fit a model to the data of a file and save it.

    The model is evaluated by cross-validation. Label names, feature columns and the options for reading the file are
    saved with the model, so that predict, evaluate and explain do not need them.
    """
    from labelrank.cli.data import read_data, warn_columns
    from labelrank.cli.output import check_model
    from labelrank.cli.streams import printable
    from labelrank.cli.training import choose_model, require_skops, save_model, train
    from labelrank.datasets._files import listing

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
        told = f"{problem.n_empty} of {len(problem.target)} instances have no preferences and are ignored"
        typer.echo(f"labelrank: {told}", err=True)
    if unseen := problem.never_compared:
        told = f"no row compares {listing(unseen)} with another label, so their predicted ranks are arbitrary"
        typer.echo(f"labelrank: warning: {printable(told)}", err=True)
    chosen = choose_model(problem, ranker, settings or [], budget, seed, jobs)
    trained = train(chosen, problem, conformal, seed, jobs)
    save_model(trained, output, data)
    if as_json:
        print(json.dumps(trained.document(output), indent=2))
    else:
        print(printable(trained.text(output)))
