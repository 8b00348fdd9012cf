"""Options that several commands share. Nothing heavy is imported, so that ``--help`` is quick."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Kind(StrEnum):
    """What label columns hold; see `labelrank.cli.target`."""

    ranks = "ranks"
    scores = "scores"
    costs = "costs"
    order = "order"
    pairs = "pairs"
    battles = "battles"
    multilabel = "multilabel"


class Unsolved(StrEnum):
    """Meanings of an empty cell in a label column; see :func:`labelrank.datasets.read_csv`."""

    last = "last"
    missing = "missing"


_TABLES = "Reading tables"
_FORMATS = (
    ".csv, .tsv, .parquet, .jsonl, .xarff, Mulan or MEKA .arff, PrefLib .soc, .soi, .toc, .toi, SVMlight .svm (text "
    "formats also with .gz and .bz2), or the folder of an ASlib scenario"
)

DataSet = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help=f"A built-in data set (iris, wine, digits, fried, synthetic) or a file: {_FORMATS}."
    ),
]
Rows = Annotated[
    str, typer.Argument(metavar="DATA", help="A file with the feature columns of the model; others are not used.")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as `labelrank fit` writes it.")]
Labels = Annotated[
    str | None,
    typer.Option(
        help="Label columns: names and patterns such as 'rank_*', separated by commas.",
        show_default="rank_*, score_*, cost_*, label_*, *:*, ranking",
        rich_help_panel=_TABLES,
    ),
]
KindOption = Annotated[
    Kind | None,
    typer.Option(
        "--kind",
        help="What label columns hold: ranks (1 is best), scores (larger is better), costs (smaller is better), an "
        "order (tea>milk>water), pairs (columns tea:milk of 1, 0, -1), battles (two labels and the winner) or "
        "multilabel (1 for relevant labels).",
        show_default="by the names of the columns",
        rich_help_panel=_TABLES,
    ),
]
Text = Annotated[
    str | None,
    typer.Option(
        help="Columns of free text, of which the words are features.",
        show_default="found by their content",
        rich_help_panel=_TABLES,
    ),
]
Ignore = Annotated[
    str | None, typer.Option(help="Columns to leave out, such as an identifier.", rich_help_panel=_TABLES)
]
UnsolvedOption = Annotated[
    Unsolved | None,
    typer.Option(
        "--unsolved",
        help="An empty label column: a failure, which comes last, or missing, which was not observed.",
        rich_help_panel=_TABLES,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        help="Character between two values of a text table.", show_default="comma or tab", rich_help_panel=_TABLES
    ),
]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of a text file.", show_default="utf-8", rich_help_panel=_TABLES)
]
MaxBytes = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Limit of the unpacked file and its matrices.",
        show_default="2**30",
        rich_help_panel=_TABLES,
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything that is drawn at random.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 for one per core.")]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON, for programs.")]
ReportFile = Annotated[
    Path | None, typer.Option("--report", metavar="FILE.html", help="Write a report to be opened in a browser.")
]


def check_jobs(jobs: int) -> None:
    """Raise if there are to be no processes."""
    if jobs == 0:
        raise ValueError("--jobs must not be 0; use 1, or -1 for one process per core")
