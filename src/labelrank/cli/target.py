"""Label columns of tables: ranks, scores, costs, orders, pairs, battles or relevant labels."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from labelrank.cli.columns import Chosen, select
from labelrank.cli.tables import Table
from labelrank.datasets._columns import frame_of_matrix
from labelrank.datasets._costs import ranks_from_values
from labelrank.datasets._files import DataFile, DataFileError, listing
from labelrank.supervision import PreferenceGraphs, from_top_k, ranks_from_orders

MEANINGS = {
    "ranks": "1 is best",
    "scores": "larger is better",
    "costs": "smaller is better",
    "order": "texts such as tea>milk>water",
    "pairs": "columns tea:milk with 1, 0 and -1",
    "battles": "columns for two labels and the winner",
    "multilabel": "1 for relevant labels, 0 for others",
}
# Columns that are labels by default.
USUAL = (
    ("rank_*", "ranks"),
    ("score_*", "scores"),
    ("cost_*", "costs"),
    ("label_*", "multilabel"),
    ("*:*", "pairs"),
    ("ranking", "order"),
    ("order", "order"),
    ("model_a,model_b,winner", "battles"),
)
_VALUES = {"ranks", "scores", "costs", "multilabel"}  # a number for each label
_SIGNS = {"pairs": "write 1, 0 or -1", "multilabel": "write 1 for relevant labels, 0 for others"}
_SAY_KIND = "declare their content: " + ", ".join(
    f"--kind {kind} ({MEANINGS[kind]})" for kind in ("scores", "ranks", "costs", "multilabel")
)


def resolve(table: Table, labels: str | None, kind: str | None) -> tuple[str, str, Chosen]:
    """Return the value of ``--labels``, the kind, and the label columns with the names of their labels."""
    columns, name = list(table.columns), table.name
    if labels is None:
        found = _usual(columns, kind)
        if len(found) > 1:
            options = " or ".join(f"--labels '{each}'" for each in found)
            raise ValueError(f"{name} has several kinds of columns that may be labels; give {options}")
        if not found:
            for usual, of in USUAL:
                if {of, kind or of} <= _VALUES and (alone := select(columns, usual, "--labels", name, strict=False)):
                    raise ValueError(f"{_one_label(alone, name)}: select them with --labels")
            example = ",".join(columns[-3:])
            raise ValueError(
                f"which columns of {name} are the labels? Its columns are {listing(columns)}; select labels with "
                f"--labels, such as --labels {example} or --labels 'rank_*', and {_SAY_KIND}"
            )
        (labels, usual), *_ = found.items()
        kind = kind or usual
    chosen = select(columns, labels, "--labels", name)
    kind = kind or dict(USUAL).get(labels)
    if len(chosen) == 1 and kind in (None, *_VALUES):
        order = ", or --kind order if it holds texts such as tea>milk" if kind is None else ""
        raise ValueError(_one_label(chosen, name) + order)
    if kind is None:
        kind = _kind_by_name(chosen) or _kind_of(table, chosen)
        if kind is None:
            raise ValueError(f"the columns {listing(chosen)} of {name} do not look like ranks; {_SAY_KIND}")
    few = {"order": (1, 1), "battles": (3, 3), "pairs": (1, None)}.get(kind, (2, None))
    if len(chosen) < few[0] or (few[1] and len(chosen) > few[1]):
        needed = {"order": "one column", "battles": "three columns: the two labels and the winner"}
        raise ValueError(
            f"--kind {kind} needs {needed.get(kind, 'two label columns or more')}, and --labels {labels} names "
            f"{listing(chosen)}"
        )
    if len(set(chosen.values())) < len(chosen):
        raise ValueError(f"--labels {labels} gives two columns the same label name: {listing(chosen.values())}")
    return labels, kind, chosen


def _one_label(chosen: Chosen, name: str) -> str:
    return f"{name} has only one label column, {next(iter(chosen))}; a ranking needs two"


def look_like_labels(features: Sequence[str], chosen: Chosen) -> list[str]:
    """Return the features whose names begin like those of the label columns, or with a usual prefix of labels."""
    shared = re.match(r"(.*[^0-9A-Za-z])?", os.path.commonprefix(list(chosen)), re.DOTALL)  # noqa: RUF071
    usual = [labels.removesuffix("*") for labels, of in USUAL if of in _VALUES]
    begins = tuple([*usual, shared[0]] if shared and shared[0] and len(chosen) > 1 else usual)
    return [name for name in features if name.startswith(begins)]


def _usual(columns: Sequence[str], kind: str | None) -> dict[str, str]:
    """Default label columns in a table, of one kind or of any kind."""
    found = {}
    for labels, of in USUAL:
        try:
            chosen = select(columns, labels, "", "")
        except ValueError:
            continue
        if len(chosen) > 1 or of == "order":
            found[labels] = of
    if kind is None:
        return found
    by_kind = {labels: of for labels, of in found.items() if of == kind}
    return by_kind or {labels: of for labels, of in found.items() if {of, kind} <= _VALUES}


def _kind_by_name(chosen: Chosen) -> str | None:
    """The kind of columns that all have the same usual prefix."""
    prefixes = {labels.removesuffix("*"): of for labels, of in USUAL if of in _VALUES}
    return next((of for prefix, of in prefixes.items() if all(name.startswith(prefix) for name in chosen)), None)


def _kind_of(table: Table, chosen: Chosen) -> str | None:
    """Return "ranks" if the columns are certainly ranks: 1, 2, … or averages of tied positions in each row."""
    try:
        values = np.column_stack([table.numbers(column) for column in chosen])
    except DataFileError:
        return None
    known = ~np.isnan(values)
    if not known.any(axis=1).all() or not len(values):
        return None
    size = known.sum(axis=1)
    ranks = (np.nanmin(values, axis=1) == 1) & (np.nanmax(values, axis=1) <= values.shape[1])
    averages = np.nansum(values, axis=1) == size * (size + 1) / 2
    whole = (2 * values[known] == np.floor(2 * values[known])).all()
    return "ranks" if whole and (ranks | averages).all() and np.nanmax(values) > 1 else None


def target_of(
    table: Table, kind: str, chosen: Chosen, unsolved: str | None = None, names: Sequence[Any] | None = None
) -> Any:
    """Convert the label columns to a frame of ranks, or graphs; `names` are the labels of a model."""
    columns, short = list(chosen), list(chosen.values())
    if unsolved is not None and kind not in ("ranks", "scores", "costs", "order"):
        raise ValueError(f"--unsolved is for ranks, scores, costs and orders; these are {kind}")
    if kind == "order":
        return _orders(table, columns[0], unsolved, names)
    if kind == "battles":
        frame = pl.DataFrame([pl.Series(name, list(map(_name, table.values(name)))) for name in columns])
        a, b, winner = columns
        return _checked(table, PreferenceGraphs.from_battles, frame, a=a, b=b, winner=winner, labels=names)
    matrix = np.column_stack([_finite(table, column, kind) for column in columns])
    allowed = {"pairs": (-1, 0, 1), "multilabel": (0, 1)}.get(kind)
    if allowed is not None:
        bad = np.argwhere(~(np.isin(matrix, allowed) | np.isnan(matrix)))
        if len(bad):
            row, column = bad[0]
            expected = f"{' or '.join(map(str, allowed))} in the label column {columns[column]!r}"
            raise table.error(int(row), expected, f"{matrix[row, column]:g}")
    if kind == "pairs":
        return _checked(table, PreferenceGraphs.from_pair_table, matrix, columns, labels=names)
    if kind == "multilabel":
        return _checked(table, PreferenceGraphs.from_multilabel, matrix, labels=short)
    lines = list(table.rows) if table.unit == "line" else None
    how: Any = kind
    meaning: Any = unsolved
    return frame_of_matrix(ranks_from_values(DataFile(table.name), matrix, how, meaning, short, lines), short)


def _finite(table: Table, column: str, kind: str) -> Any:
    try:
        values = table.numbers(column)
    except DataFileError as error:
        hint = "leave the cell empty, and give --unsolved last if the label failed, or --unsolved missing"
        if kind in _SIGNS:
            hint = _SIGNS[kind]
        elif any(re.fullmatch(r"[-+]?\d*,\d+", str(value).strip()) for value in table.values(column)):
            hint = "write numbers with a decimal point instead of a comma"
        raise DataFileError(f"{error}; {hint}") from error
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        raise table.error(row, f"a finite number in the label column {column!r}", str(values[row]))
    return values


def _name(value: Any) -> str | None:
    return value if value is None else str(value)


def _checked(table: Table, constructor: Any, *arguments: Any, **options: Any) -> Any:
    """Call a constructor; raise its errors as errors in the table."""
    try:
        return constructor(*arguments, **options)
    except (ValueError, TypeError) as error:
        raise DataFileError(f"{table.name}: {error}") from error


def _orders(table: Table, column: str, unsolved: str | None, names: Sequence[Any] | None) -> Any:
    """Rankings written as texts such as ``tea>milk=water``, as lists, or as several chains ``tea>milk|cola>milk``."""
    values = table.values(column)
    wrong = next((row for row, value in enumerate(values) if not isinstance(value, str | list | None)), None)
    if wrong is not None:
        raise table.error(wrong, f"an order such as tea>milk>water in the column {column!r}", values[wrong])
    chains = [_chains(value) for value in values]
    labels = sorted({label for row in chains for chain in row for group in chain for label in group})
    if names is not None:
        unknown = next((label for label in labels if label not in set(map(str, names))), None)
        if unknown is not None:
            raise DataFileError(f"{table.name}: {unknown!r} in the column {column!r} is not a label of the model")
        labels = list(map(str, names))
    if all(len(row) <= 1 for row in chains):
        orders = [[tuple(group) for group in row[0]] if row else [] for row in chains]
        for row, order in enumerate(orders):
            flat = [label for group in order for label in group]
            if len(set(flat)) < len(flat) or "" in flat:
                raise table.error(row, "each label once, such as tea>milk>water", values[row])
        ranks = ranks_from_orders(orders, labels=labels)
        return frame_of_matrix(from_top_k(ranks) if unsolved == "last" else ranks, labels)
    pairs = sorted(
        {
            (row, better, worse)
            for row, found in enumerate(chains)
            for chain in found
            for before, after in combinations(chain, 2)
            for better in before
            for worse in after
        }
    )
    rows, better, worse = zip(*pairs, strict=True) if pairs else ((), (), ())
    return _checked(
        table, PreferenceGraphs.from_pairs, list(rows), list(better), list(worse), n_instances=len(chains),
        labels=labels, conflicts="keep",
    )  # fmt: skip


def _chains(value: Any) -> list[list[list[str]]]:
    """Chains of groups of tied labels."""
    if value is None:
        return []
    if isinstance(value, list):
        return [[list(map(str, part)) if isinstance(part, list) else [str(part)] for part in value]]
    return [[[label.strip() for label in group.split("=")] for group in chain.split(">")] for chain in value.split("|")]
