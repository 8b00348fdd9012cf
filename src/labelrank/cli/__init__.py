"""The ``labelrank`` command. What a command needs is imported when it runs, so that ``--help`` is quick."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, NoReturn

import typer

app = typer.Typer(
    name="labelrank",
    help="Learn to rank a fixed set of labels for each instance.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Format(StrEnum):
    """What ``compare`` prints."""

    table = "table"
    csv = "csv"
    json = "json"
    markdown = "markdown"


class TableFormat(StrEnum):
    """What ``reproduce`` prints."""

    table = "table"
    csv = "csv"
    markdown = "markdown"
    rst = "rst"


class MissingHow(StrEnum):
    """How labels are hidden; see :func:`labelrank.mask_rankings`."""

    random = "random"
    top = "top"


def main() -> None:
    """Run the command line."""
    app(prog_name="labelrank")


def fail(message: object) -> NoReturn:
    """End with exit code 2 and a message: what the user can put right needs no traceback."""
    typer.echo(f"labelrank: error: {message}", err=True)
    raise typer.Exit(2)


def _print_version(wanted: bool) -> None:
    if wanted:
        from labelrank import __version__

        typer.echo(f"labelrank {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


@app.command()
def compare(
    data: Annotated[
        str,
        typer.Argument(
            help="A built-in data set (iris, wine, digits, fried, synthetic) or a file (.csv, .tsv, .parquet, .xarff; "
            "the texts also with .gz)."
        ),
    ] = "iris",
    labels: Annotated[
        str | None,
        typer.Option(
            help="Label columns of a table: a prefix, a list a,b,c or a /pattern/.",
            show_default="rank_",
        ),
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="The label columns hold scores, larger is better, instead of ranks.")
    ] = False,
    ignore: Annotated[
        str | None, typer.Option(help="Columns to leave out: a prefix, a list a,b,c or a /pattern/.")
    ] = None,
    rankers: Annotated[
        str | None, typer.Option(help="Only these rankers, with commas between them.", show_default="all")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="tau, tau_b, tau_x, rho, ndcg, top1, zero_one, disagreement, domination or dominated; several with "
            "commas. The table is sorted by the first.",
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
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the folds, the hiding and the rankers.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 for one per core.")] = 1,
    output: Annotated[Format, typer.Option("--format", "-f", help="What to print.")] = Format.table,
) -> None:
    """Compare all rankers on a data set by repeated cross-validation."""
    from labelrank.cli.compare import available_rankers, choose_metrics, choose_rankers, compare_rankers
    from labelrank.cli.data import load
    from labelrank.cli.report import print_report, progress_bar

    try:
        metrics = choose_metrics(metric or ["tau"])
        chosen = choose_rankers(available_rankers(seed), rankers)
        problem = load(data, labels=labels, scores=scores, ignore=ignore, seed=seed)
        if folds > len(problem.target):
            raise ValueError(
                f"--folds {folds} needs at least as many instances; {problem.name} has {len(problem.target)}"
            )
        if jobs == 0:
            raise ValueError("--jobs 0 leaves nobody to do the work; use 1, or -1 for one process per core")
    except (ValueError, TypeError, OSError) as error:
        fail(error)

    with progress_bar(len(chosen) * folds * repeats) as advance:
        comparison = compare_rankers(
            chosen,
            problem.data,
            problem.target,
            metrics=metrics,
            folds=folds,
            repeats=repeats,
            missing=missing,
            missing_how=missing_how.value,
            seed=seed,
            n_jobs=jobs,
            advance=advance,
        )
    print_report(comparison, problem, output.value)
    if all(row.error for row in comparison.rows):
        raise typer.Exit(1)


@app.command()
def reproduce(
    name: Annotated[
        str, typer.Argument(help="The experiment: dekel2003, amit2007, cheng2009, sopopo2006, tsivtsivadze2008.")
    ],
    data: Annotated[
        str | None,
        typer.Option(
            help="The data set: reuters or rcv1; amit2007: also emotions, scene, yeast, enron, flags, all; cheng2009: "
            "lr16 or raw; sopopo2006: gaussian; tsivtsivadze2008: parse or letor.",
            show_default="the first",
        ),
    ] = None,
    folder: Annotated[
        str | None, typer.Option(help="Where its files are.", show_default="found through LABELRANK_DATA")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small generated problem; needs no files.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 for one per core.")] = 1,
    cache: Annotated[
        str | None,
        typer.Option(help="Folder for results, so that a run can go on.", show_default="LABELRANK_CACHE, ~/.cache"),
    ] = None,
    output: Annotated[TableFormat, typer.Option("--format", "-f", help="What to print.")] = TableFormat.table,
) -> None:
    """Make a published table again: our numbers beside the printed ones."""
    from labelrank.cli.reproduce import check_data, experiment

    try:
        module = experiment(name)
        if jobs == 0:
            raise ValueError("--jobs 0 leaves nobody to do the work; use 1, or -1 for one process per core")
        report = module.run(check_data(module, data), folder=folder, quick=quick, n_jobs=jobs, cache=cache)
    except (ValueError, OSError) as error:
        fail(error)
    except KeyboardInterrupt:
        typer.echo("labelrank: stopped; what was computed is kept, and the same command goes on from there", err=True)
        raise typer.Exit(130) from None
    report.print(output.value)
