"""Select columns by names and patterns such as ``rank_*``, separated by commas, as in options."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from labelrank.datasets._files import excerpt, listing

Chosen = dict[str, str]  # column -> short name


def closest(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the closest name, an empty string if there is none."""
    by_lower_case = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name.lower(), by_lower_case, n=1)
    return f"; did you mean {by_lower_case[near[0]]!r}?" if near else ""


class NoSuchColumn(ValueError):
    """An option names a column that a file does not have."""

    def __init__(self, message: str, option: str, part: str) -> None:
        super().__init__(message)
        self.option, self.part = option, part


def select(columns: Sequence[str], wanted: str, option: str, name: str, strict: bool = True) -> Chosen:
    """Return the columns that an option selects, with the parts matched by ``*`` as their short names.

    A column whose name has commas can only be given alone. If `strict`, each name and pattern must match a column.

    Examples
    --------
    >>> from labelrank.cli.columns import select
    >>> select(["age", "rank_tea", "rank_milk"], "rank_*", "--labels", "drinks.csv")
    {'rank_tea': 'tea', 'rank_milk': 'milk'}
    """
    chosen: Chosen = {}
    for part in [wanted] if wanted in columns else (part.strip() for part in wanted.split(",")):
        if part in columns:
            found = {part: part}
        elif "*" in part:
            pattern = re.compile("(.*)".join(map(re.escape, part.split("*"))))
            matches = {column: match for column in columns if (match := pattern.fullmatch(column))}
            single = part.count("*") == 1
            found = {column: match[1] if single and match[1] else column for column, match in matches.items()}
        elif part:
            found = {}
        else:
            continue
        if not found and strict:
            raise NoSuchColumn(
                f"{option} names {part!r}, but there is no such column in {name}{closest(part, columns) or '.'} "
                f"Its columns are {listing(columns)}",
                option,
                part,
            )
        chosen |= found
    if not chosen and strict:
        raise ValueError(f"{option} names no column; the columns of {name} are {listing(columns)}")
    return chosen


def missing_columns(needed: Iterable[str], columns: Sequence[str], name: str) -> str | None:
    """Return an error message if columns that a model needs are missing, otherwise None."""
    missing = [each for each in needed if each not in columns]
    if not missing:
        return None
    others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
    near = closest(missing[0], [column for column in columns if column not in set(needed)])
    return (
        f"{name} has no column {excerpt(missing[0])}{others}, which the model needs{near or '.'} "
        f"Its columns are {listing(columns)}"
    )
