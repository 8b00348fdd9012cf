"""``labelrank convert``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from labelrank.cli.options import (
    DataSet,
    Encoding,
    Ignore,
    Json,
    KindOption,
    Labels,
    MaxBytes,
    Separator,
    Text,
    UnsolvedOption,
)

EXAMPLE = "labelrank convert votes.soc votes.csv"


def convert(
    data: DataSet,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write: .csv, .tsv, .parquet or .jsonl.")],
    labels: Labels = None,
    kind: KindOption = None,
    text: Text = None,
    ignore: Ignore = None,
    unsolved: UnsolvedOption = None,
    separator: Separator = None,
    encoding: Encoding = None,
    max_bytes: MaxBytes = None,
    as_json: Json = False,
) -> None:
    """Convert data of any format to a table that every command reads without options.

    Rankings become columns rank_LABEL. Battles and partial orders become a column "ranking" of pairs such as
    tea>milk|tea>water.
    """
    from labelrank.cli.conversion import table_of
    from labelrank.cli.data import read_data
    from labelrank.cli.output import SUFFIXES, check_output, row_writer
    from labelrank.cli.streams import printable

    check_output(output, SUFFIXES, inputs=[data])
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
    )
    frame = table_of(problem)
    with row_writer(output, output.suffix.lower()) as writer:
        writer.write(frame.to_dicts() if writer.is_json else frame)
    if as_json:
        print(json.dumps({"file": str(output), **{f"n_{what}": n for what, n in problem.shape.items()}}, indent=2))
    else:
        print(f"{printable(str(output))}: {' × '.join(f'{n} {what}' for what, n in problem.shape.items())}")
