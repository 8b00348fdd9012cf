"""``labelrank explain``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from labelrank.cli.options import Encoding, Json, Model, Rows, Separator

EXAMPLE = "labelrank explain model.lrk new.csv --row 3 --better tea --worse milk"


def explain(
    model: Model,
    data: Rows,
    row: Annotated[int, typer.Option(min=0, help="The row to explain, counted from 0.")] = 0,
    better: Annotated[str | None, typer.Option(metavar="LABEL", show_default="the first label of the ranking")] = None,
    worse: Annotated[
        str | None, typer.Option(metavar="LABEL", show_default="the next label of the ranking, or the one before")
    ] = None,
    separator: Separator = None,
    encoding: Encoding = None,
    as_json: Json = False,
) -> None:
    """Say why a model ranks one label before another for a row of a file.

    Each feature has a part in the difference of the two scores; the parts add up. Where a model has no exact
    explanation, the parts are estimated with the first rows of the file as the usual ones.
    """
    from labelrank.cli.explaining import explain_row
    from labelrank.cli.saved import open_model
    from labelrank.cli.streams import printable

    found = explain_row(open_model(model), data, row, better, worse, separator, encoding)
    print(json.dumps(found.document(), indent=2) if as_json else printable(found.text()))
