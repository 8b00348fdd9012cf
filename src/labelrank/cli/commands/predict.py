"""``labelrank predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelrank.cli.options import EncodingAsTrained, Model, Rows, SeparatorAsTrained

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
    top: Annotated[int | None, typer.Option(min=1, help="Number of labels to output.", show_default="all")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", metavar="", help="Explain why the first label is before the second.")
    ] = False,
    keep: Annotated[
        str | None, typer.Option(metavar="COLUMNS", help="Columns to copy to the output, such as an identifier.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON lines instead of CSV.")] = False,
    separator: SeparatorAsTrained = None,
    encoding: EncodingAsTrained = None,
) -> None:
    """Rank the labels for each row of a file: labels best first, scores and confidence.

    If the model is conformal, "safe" is the guaranteed part of the ranking: in tea>milk=water, tea is first, and the
    order of milk and water is open. With - as DATA, each JSON line on standard input is answered by one on standard
    output. Rows are read and written in chunks, so a file may be larger than memory.
    """
    from labelrank.cli.output import SUFFIXES, check_output
    from labelrank.cli.prediction import predict_rows
    from labelrank.cli.saved import open_model

    if output is not None:
        check_output(output, SUFFIXES, inputs=[model, data])
    predict_rows(open_model(model), data, output, top, explain, keep, as_json, separator, encoding)
