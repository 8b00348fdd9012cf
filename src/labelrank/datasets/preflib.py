"""PrefLib files of elections."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._files import PathLike, excerpt, malformed, read_lines
from labelrank.supervision import ranks_from_orders

_TYPES = ("soc", "soi", "toc", "toi")
_ITEM = re.compile(r"\{([^{}]*)\}|([^{},]+)")
_ORDER = re.compile(r"(?:\{[^{}]*\}|[^{},]+)(?:,(?:\{[^{}]*\}|[^{},]+))*")

Lines = list[tuple[int, str]]
Order = list[tuple[int, ...]]


def read_preflib(path: PathLike, *, encoding: str = "utf-8") -> Bunch:
    """Read orders of alternatives from a PrefLib file: ``.soc``, ``.soi``, ``.toc`` or ``.toi``.

    The four types are strict or with ties (s, t) and complete or incomplete (c, i). Both the present format (a header
    of ``# KEY: value``, then ``count: 1,2,{3,4}``) and the old one (the number of alternatives, their names, the
    totals, then ``count,1,2,{3,4}``) are supported. The type and the totals of the header are checked.

    Parameters
    ----------
    path : str or path-like
        The file, packed by gzip if its name ends in ``.gz``.
    encoding : str, default="utf-8"
        Encoding of the file. A byte order mark is ignored.

    Returns
    -------
    Bunch
        - ``data``: ndarray of shape (n_voters, 0), since an election has no features;
        - ``target``: ndarray of shape (n_voters, n_alternatives), ranks. An order with count 3 is repeated three times.
          Alternatives that an order leaves out are NaN; :func:`labelrank.from_top_k` ties them below the others;
        - ``feature_names``: empty;
        - ``label_names``: names of the alternatives;
        - ``DESCR``: title and description from the header.

    References
    ----------
    N. Mattei, T. Walsh. PrefLib: a library for preferences. ADT 2013. https://preflib.org/format

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from labelrank.datasets import read_preflib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "vote.toi")
    >>> _ = path.write_text('''# NUMBER ALTERNATIVES: 3
    ... # ALTERNATIVE NAME 1: tea
    ... # ALTERNATIVE NAME 2: beer
    ... # ALTERNATIVE NAME 3: milk
    ... 2: 3,{1,2}
    ... 1: 2
    ... ''')
    >>> read_preflib(path).target
    array([[ 2.,  2.,  1.],
           [ 2.,  2.,  1.],
           [nan,  1., nan]])
    """
    suffix = Path(str(path).removesuffix(".gz")).suffix.lower().removeprefix(".")
    lines = [(number, text.strip()) for number, text in read_lines(path, encoding) if text.strip()]
    if not lines:
        raise malformed(path, 1, "a PrefLib header", "an empty file")
    modern = lines[0][1].startswith("#")
    header, rest = (_modern_header if modern else _old_header)(path, lines, suffix)
    ballots = _ballots(path, header, rest, ":" if modern else ",")
    n_voters = sum(count for count, _ in ballots)
    for line, total, what in header.totals:  # a file that was cut off is found here
        found = n_voters if what == "voters" else len(ballots)
        if total != found:
            raise malformed(path, line, f"{total} {what}, as declared there", f"{found} in the file")
    ranks = ranks_from_orders([order for _, order in ballots], n_labels=len(header.names))
    target = np.repeat(ranks, np.array([count for count, _ in ballots], dtype=np.intp), axis=0)
    descr = [
        header.title,
        header.description,
        f"{read_from(path, len(target), 0, len(header.names))} Voters; PrefLib type {header.kind}.",
    ]
    return make_bunch(np.empty((len(target), 0)), target, [], header.names, "\n\n".join(filter(None, descr)))


@dataclass
class _Header:
    kind: str
    names: list[str] = field(default_factory=list)
    title: str = ""
    description: str = ""
    totals: list[tuple[int, int, str]] = field(default_factory=list)  # (line, total, of what)


def _modern_header(path: PathLike, lines: Lines, suffix: str) -> tuple[_Header, Lines]:
    """Lines ``# KEY: value``; returns the lines after them too."""
    header = _Header(suffix)
    declared: tuple[int, int] | None = None  # line and number of the alternatives
    names: dict[int, str] = {}
    type_line = None
    n_lines = next((i for i, (_, text) in enumerate(lines) if not text.startswith("#")), len(lines))
    for line, text in lines[:n_lines]:
        key, colon, value = text.removeprefix("#").partition(":")
        key, value = " ".join(key.split()).upper(), value.strip()
        if not colon:
            continue  # a remark
        if key == "DATA TYPE":
            header.kind, type_line = value.lower(), line
        elif key == "NUMBER ALTERNATIVES":
            declared = (line, _integer(path, line, value, key.lower()))
        elif key in ("NUMBER VOTERS", "NUMBER UNIQUE ORDERS"):
            header.totals.append((line, _integer(path, line, value, key.lower()), key.lower().split()[-1]))
        elif key.startswith("ALTERNATIVE NAME "):
            number = _integer(path, line, key.removeprefix("ALTERNATIVE NAME "), "the number of an alternative", 1)
            if number in names:
                raise malformed(path, line, "a name for each alternative", f"a second one for {number}")
            names[number] = _different(path, line, value, names, number)
        elif key in ("TITLE", "DESCRIPTION"):
            setattr(header, key.lower(), value)
    _check_type(path, type_line, header.kind)
    rest = [(line, text) for line, text in lines[n_lines:] if not text.startswith("#")]
    end = rest[0][0] if rest else lines[-1][0] + 1  # where the header would have gone on
    line, n_alternatives = declared or (end, len(names))
    if not n_alternatives:
        raise malformed(path, line, "alternatives in the header", "none")
    numbers = range(1, n_alternatives + 1)
    if names and sorted(names) != list(numbers):
        missing = [number for number in numbers if number not in names]
        found = f"none for {missing[0]}" if missing else f"one for {max(names)}"
        raise malformed(path, line, f"names for the alternatives 1 to {n_alternatives}", found)
    header.names = [names.get(number, str(number)) for number in numbers]
    return header, rest


def _old_header(path: PathLike, lines: Lines, suffix: str) -> tuple[_Header, Lines]:
    """The number of alternatives, their names, the totals; returns the lines after them too."""
    _check_type(path, None, suffix)
    header = _Header(suffix)
    number, text = lines[0]
    n_alternatives = _integer(path, number, text, "the number of alternatives", 1)
    names: dict[int, str] = {}
    for i in range(1, n_alternatives + 1):
        number, text = _line(path, lines, i, f"{i},name")
        key, comma, name = text.partition(",")
        if not comma or key.strip() != str(i):
            raise malformed(path, number, f"{i},name", excerpt(text))
        names[i] = _different(path, number, name.strip(), names, i)
    header.names = list(names.values())
    expected = "voters,sum of counts,different orders"
    number, text = _line(path, lines, n_alternatives + 1, expected)
    if text.count(",") != 2:
        raise malformed(path, number, expected, excerpt(text))
    _, voters, orders = (_integer(path, number, part, "a total") for part in text.split(","))
    header.totals = [(number, voters, "voters"), (number, orders, "orders")]
    return header, lines[n_alternatives + 2 :]


def _ballots(path: PathLike, header: _Header, lines: Lines, separator: str) -> list[tuple[int, Order]]:
    ballots = []
    for line, text in lines:
        count, found, order = text.partition(separator)
        if not found:
            raise malformed(path, line, "count: order" if separator == ":" else "count,order", excerpt(text))
        n_voters = _integer(path, line, count, "the number of voters", 1)
        ballots.append((n_voters, _order(path, header, line, order)))
    return ballots


def _order(path: PathLike, header: _Header, line: int, text: str) -> Order:
    """Groups of tied alternatives, counted from 0."""
    compact = re.sub(r"\{\},?|,\{\}", "", "".join(text.split()))  # an empty group says nothing
    if not _ORDER.fullmatch(compact):
        raise malformed(path, line, "alternatives such as 1,2,{3,4}", excerpt(text.strip()))
    order: Order = []
    seen: set[int] = set()
    for tied, single in _ITEM.findall(compact):
        numbers = [_integer(path, line, n, "the number of an alternative", 1) for n in (tied or single).split(",")]
        for number in numbers:
            if number > len(header.names):
                raise malformed(path, line, f"an alternative from 1 to {len(header.names)}", str(number))
            if number in seen:
                raise malformed(path, line, "each alternative once", f"{number} twice")
            seen.add(number)
        if len(numbers) > 1 and header.kind.startswith("s"):
            raise malformed(path, line, f"an order without ties (type {header.kind})", excerpt(f"{{{tied}}}"))
        order.append(tuple(number - 1 for number in numbers))
    if len(seen) < len(header.names) and header.kind.endswith("c"):
        expected = f"a complete order of {len(header.names)} alternatives (type {header.kind})"
        raise malformed(path, line, expected, f"{len(seen)} of them")
    return order


def _line(path: PathLike, lines: Lines, i: int, expected: str) -> tuple[int, str]:
    if i >= len(lines):
        raise malformed(path, lines[-1][0] + 1, expected, "the end of the file")
    return lines[i]


def _integer(path: PathLike, line: int, text: str, what: str, least: int = 0) -> int:
    if not text.strip().isdecimal() or int(text) < least:
        raise malformed(path, line, f"{what}, an integer of at least {least}", excerpt(text.strip()))
    return int(text)


def _different(path: PathLike, line: int, name: str, names: dict[int, str], number: int) -> str:
    """The name of an alternative, which no other may have."""
    for other, known in names.items():
        if known == name:
            found = f"{excerpt(name)} for {other} and for {number}"
            raise malformed(path, line, "different names of the alternatives", found)
    return name


def _check_type(path: PathLike, line: int | None, kind: str) -> None:
    if kind not in _TYPES:
        raise malformed(path, line, "one of the types soc, soi, toc, toi (orders)", repr(kind))
