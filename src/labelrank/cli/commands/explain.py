"""``labelrank explain``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from labelrank.cli.options import EncodingAsTrained, Json, Model, Rows, SeparatorAsTrained

EXAMPLE = "labelrank explain model.lrk new.csv --row 3 --better tea --worse milk"


def explain(
    model: Model,
    data: Rows,
    row: Annotated[int, typer.Option(min=0, help="The row to explain, counted from 0.")] = 0,
    better: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL", help="The label that is ranked before.", show_default="the first label of the ranking"
        ),
    ] = None,
    worse: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="The label that is ranked after.",
            show_default="the next label of the ranking, or the one before",
        ),
    ] = None,
    separator: SeparatorAsTrained = None,
    encoding: EncodingAsTrained = None,
    as_json: Json = False,
) -> None:
    """Explain why a model ranks one label before another in a row of a file.

    The contributions of the features add up to the difference of the two scores. If a model has no exact explanation,
    they are estimated by comparison with the first rows of the file.
    """
    from labelrank.cli.explaining import explain_row
    from labelrank.cli.saved import open_model
    from labelrank.cli.streams import printable

    found = explain_row(open_model(model), data, row, better, worse, separator, encoding)
    print(json.dumps(found.document(), indent=2) if as_json else printable(found.text()))
