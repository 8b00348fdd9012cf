"""Options shared by several commands. Nothing heavy is imported, so that ``--help`` is fast."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Kind(StrEnum):
    """Content of label columns; see `labelrank.cli.target`."""

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
    str, typer.Argument(metavar="DATA", help="A file with the feature columns of the model; others are ignored.")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, written by `labelrank fit`.")]
_AS_TRAINED = "as for the training data"


def _labels(default: str) -> Any:
    about = "Label columns: names and patterns such as 'rank_*', separated by commas."
    return typer.Option(help=about, show_default=default, rich_help_panel=_TABLES)


def _kind(default: str) -> Any:
    about = (
        "Content of the label columns: ranks (1 is best), scores (larger is better), costs (smaller is better), "
        "an order (tea>milk>water), pairs (columns tea:milk of 1, 0, -1), battles (two labels and the winner) or "
        "multilabel (1 for relevant labels)."
    )
    return typer.Option("--kind", help=about, show_default=default, rich_help_panel=_TABLES)


def _separator(default: str) -> Any:
    about = r"Separator of the columns of a text table, such as ';' or '\t'."
    return typer.Option(callback=_tab, help=about, show_default=default, rich_help_panel=_TABLES)


def _tab(separator: str | None) -> str | None:
    r"""Return a tab for ``\t``, which most shells pass on as two characters."""
    return "\t" if separator == r"\t" else separator


def _encoding(default: str) -> Any:
    return typer.Option(help="Encoding of a text file.", show_default=default, rich_help_panel=_TABLES)


Labels = Annotated[str | None, _labels("rank_*, score_*, cost_*, label_*, *:*, ranking")]
LabelsAsTrained = Annotated[str | None, _labels(_AS_TRAINED)]
KindOption = Annotated[Kind | None, _kind("guessed from the column names")]
KindAsTrained = Annotated[Kind | None, _kind(_AS_TRAINED)]
Text = Annotated[
    str | None,
    typer.Option(
        help="Columns of free text, which is split into words.",
        show_default="guessed from the content",
        rich_help_panel=_TABLES,
    ),
]
Ignore = Annotated[str | None, typer.Option(help="Columns to exclude, such as an identifier.", rich_help_panel=_TABLES)]
UnsolvedOption = Annotated[
    Unsolved | None,
    typer.Option(
        "--unsolved",
        help="Meaning of an empty label cell: last (a failure) or missing (not observed).",
        rich_help_panel=_TABLES,
    ),
]
Separator = Annotated[str | None, _separator("comma or tab")]
SeparatorAsTrained = Annotated[str | None, _separator(_AS_TRAINED)]
Encoding = Annotated[str | None, _encoding("utf-8")]
EncodingAsTrained = Annotated[str | None, _encoding(_AS_TRAINED)]
MaxBytes = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Size limit of the unpacked file and its matrices.",
        show_default="2**30",
        rich_help_panel=_TABLES,
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Number of processes; -1 for one per core.")]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")]
ReportFile = Annotated[Path | None, typer.Option("--report", metavar="FILE.html", help="Write an HTML report.")]


def check_jobs(jobs: int) -> None:
    """Raise ValueError if the number of processes is 0."""
    if jobs == 0:
        raise ValueError("--jobs must not be 0; use 1, or -1 for one process per core")
