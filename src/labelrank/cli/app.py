"""The commands and their options. What a command needs is imported when it runs, so that ``--help`` is quick."""

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
    """Output formats of ``compare``."""

    table = "table"
    csv = "csv"
    json = "json"
    markdown = "markdown"


class MissingHow(StrEnum):
    """Ways to hide labels; see :func:`labelrank.mask_rankings`."""

    random = "random"
    top = "top"


class Unsolved(StrEnum):
    """Meanings of an empty cell in a label column; see :func:`labelrank.datasets.read_csv`."""

    last = "last"
    missing = "missing"


def fail(message: object) -> NoReturn:
    """Exit with status 2 and a message: a mistake of the user needs no traceback."""
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
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def compare(
    data: Annotated[
        str,
        typer.Argument(
            help="A built-in data set (iris, wine, digits, fried, synthetic) or a file (.csv, .tsv, .parquet, .xarff; "
            "the text formats also with .gz and .bz2)."
        ),
    ] = "iris",
    labels: Annotated[
        str | None,
        typer.Option(help="Label columns of a table: a prefix, a list a,b,c or a /pattern/.", show_default="rank_"),
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="The label columns hold scores, larger is better, instead of ranks.")
    ] = False,
    costs: Annotated[
        bool, typer.Option("--costs", help="The label columns hold costs, smaller is better, instead of ranks.")
    ] = False,
    unsolved: Annotated[
        Unsolved | None,
        typer.Option(help="An empty label column: a failure, which comes last, or missing, which was not observed."),
    ] = None,
    ignore: Annotated[
        str | None, typer.Option(help="Columns to leave out: a prefix, a list a,b,c or a /pattern/.")
    ] = None,
    max_bytes: Annotated[
        int | None, typer.Option(min=1, help="Limit of the unpacked file and its matrices.", show_default="2**30")
    ] = None,
    rankers: Annotated[
        str | None, typer.Option(help="Compare only these rankers, separated by commas.", show_default="all")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="tau, tau_b, tau_x, rho, ndcg, top1, zero_one, disagreement, domination or dominated; several are "
            "separated by commas. The table is sorted by the first.",
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
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed of the folds, the hidden labels and the rankers.")
    ] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 for one per core.")] = 1,
    output: Annotated[Format, typer.Option("--format", "-f", help="Output format.")] = Format.table,
) -> None:
    """Compare all rankers on a data set by repeated cross-validation."""
    from labelrank.cli.compare import Protocol, available_rankers, choose_metrics, choose_rankers, compare_rankers
    from labelrank.cli.data import FileOptions, load
    from labelrank.cli.progress import progress_bar
    from labelrank.cli.report import print_comparison

    try:
        metrics = choose_metrics(metric or ["tau"])
        chosen = choose_rankers(available_rankers(seed), rankers)
        meaning = None if unsolved is None else unsolved.value
        problem = load(data, FileOptions(labels, scores, costs, meaning, ignore, max_bytes), seed)
        if folds > len(problem.target):
            raise ValueError(
                f"--folds {folds} needs at least as many instances; {problem.name} has {len(problem.target)}"
            )
        if jobs == 0:
            raise ValueError("--jobs must not be 0; use 1, or -1 for one process per core")
    except (ValueError, TypeError, OSError, MemoryError) as error:
        fail(error)

    protocol = Protocol(folds, repeats, seed, missing, missing_how.value)
    with progress_bar("folds", len(chosen) * folds * repeats) as advance:
        comparison = compare_rankers(
            chosen, problem.data, problem.target, protocol, metrics=metrics, n_jobs=jobs, advance=advance
        )
    print_comparison(comparison, problem, output.value)
    if all(row.error for row in comparison.rows):
        raise typer.Exit(1)
