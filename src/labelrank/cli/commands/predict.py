"""``labelrank predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelrank.cli.options import Encoding, Model, Rows, Separator

EXAMPLE = "labelrank predict model.lrk new.csv -o ranked.csv --top 3; or on a pipe: … | labelrank predict model.lrk -"


def predict(
    model: Model,
    data: Rows,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write: .csv, .tsv, .parquet or .jsonl.",
            show_default="standard output, as CSV",
        ),
    ] = None,
    top: Annotated[int | None, typer.Option(min=1, help="Name only so many labels.", show_default="all")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", metavar="", help="Say what speaks for the first label rather than the second.")
    ] = False,
    keep: Annotated[
        str | None, typer.Option(metavar="COLUMNS", help="Columns to copy to the output, such as an identifier.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON lines instead of CSV.")] = False,
    separator: Separator = None,
    encoding: Encoding = None,
) -> None:
    """Rank the labels for each row of a file: names best first, scores and confidence.

    If the model is conformal, "safe" is the part of the ranking that can be trusted: tea>milk=water says that tea is
    first, and nothing of milk and water. With - as DATA, each line of JSON on standard input is answered by one on
    standard output. Rows are read and written in parts, so that a file may be larger than memory.
    """
    from labelrank.cli.output import SUFFIXES, check_output
    from labelrank.cli.prediction import predict_rows
    from labelrank.cli.saved import open_model

    if output is not None:
        check_output(output, SUFFIXES, inputs=[model, data])
    predict_rows(open_model(model), data, output, top, explain, keep, as_json, separator, encoding)
