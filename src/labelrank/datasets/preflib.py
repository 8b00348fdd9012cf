"""PrefLib files of elections."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._files import PathLike, excerpt, malformed, read_lines
from labelrank.supervision import ranks_from_orders

_TYPES = ("soc", "soi", "toc", "toi")
_NAME = "ALTERNATIVE NAME "
_ITEM = re.compile(r"\{([^{}]*)\}|([^{},]+)")
_ORDER = re.compile(r"(?:\{[^{}]*\}|[^{},]+)(?:,(?:\{[^{}]*\}|[^{},]+))*")

Lines = list[tuple[int, str]]
Header = dict[str, tuple[int, str]]  # key -> (line, value)
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
    lines = [(number, text.strip()) for number, text in read_lines(path, encoding) if text.strip()]
    if not lines:
        raise malformed(path, 1, "a PrefLib header", "an empty file")
    modern = lines[0][1].startswith("#")
    suffix = Path(str(path).removesuffix(".gz")).suffix.lower().removeprefix(".")
    header, rest = _modern_header(path, lines) if modern else _old_header(path, lines)
    type_line, kind = header.get("DATA TYPE", (None, suffix))
    kind = kind.lower()
    if kind not in _TYPES:
        raise malformed(path, type_line, "one of the types soc, soi, toc, toi (orders)", repr(kind))
    names = _names(path, header, rest[0][0] if rest else lines[-1][0] + 1)
    ballots = []
    for line, text in rest:
        count, separator, order = text.partition(":" if modern else ",")
        if not separator:
            raise malformed(path, line, "count: order" if modern else "count,order", excerpt(text))
        n_voters = _integer(path, line, count, "the number of voters", 1)
        ballots.append((n_voters, _order(path, line, order, kind, len(names))))
    counts = np.array([count for count, _ in ballots], dtype=np.intp)
    totals = (("NUMBER VOTERS", "voters", counts.sum()), ("NUMBER UNIQUE ORDERS", "orders", len(counts)))
    for key, what, found in totals:
        if key in header:  # a file that was cut off is found here
            total = _integer(path, *header[key], key.lower())
            if total != found:
                raise malformed(path, header[key][0], f"{total} {what}, as declared there", f"{found} in the file")
    ranks = ranks_from_orders([order for _, order in ballots], n_labels=len(names))
    target = np.repeat(ranks, counts, axis=0)
    texts = [header[key][1] for key in ("TITLE", "DESCRIPTION") if key in header]
    texts.append(f"{read_from(path, len(target), 0, len(names))} Voters; PrefLib type {kind}.")
    return make_bunch(np.empty((len(target), 0)), target, [], names, "\n\n".join(filter(None, texts)))


def _modern_header(path: PathLike, lines: Lines) -> tuple[Header, Lines]:
    """The lines ``# KEY: value``, and the lines after them."""
    header: Header = {}
    n_lines = next((i for i, (_, text) in enumerate(lines) if not text.startswith("#")), len(lines))
    for line, text in lines[:n_lines]:
        key, colon, value = text.removeprefix("#").partition(":")
        key = " ".join(key.split()).upper()
        if key in header and key.startswith(_NAME):
            raise malformed(path, line, "a name for each alternative", f"a second one for {key.removeprefix(_NAME)}")
        if colon:  # other lines are remarks
            header[key] = (line, value.strip())
    return header, [(line, text) for line, text in lines[n_lines:] if not text.startswith("#")]


def _old_header(path: PathLike, lines: Lines) -> tuple[Header, Lines]:
    """The number of alternatives, their names, the totals with the keys of today's format, and the lines after them."""
    header: Header = {"NUMBER ALTERNATIVES": lines[0]}
    n_alternatives = _integer(path, *lines[0], "the number of alternatives", 1)
    expected = [*(f"{i},name" for i in range(1, n_alternatives + 1)), "voters,sum of counts,different orders"]
    for i, what in enumerate(expected, start=1):
        if i >= len(lines):
            raise malformed(path, lines[-1][0] + 1, what, "the end of the file")
        line, text = lines[i]
        first, *others = text.split(",", 1 if i <= n_alternatives else -1)
        if i <= n_alternatives and first.strip() == str(i) and others:
            header[f"{_NAME}{i}"] = (line, others[0].strip())
        elif i > n_alternatives and len(others) == 2:
            header["NUMBER VOTERS"], header["NUMBER UNIQUE ORDERS"] = ((line, total) for total in others)
        else:
            raise malformed(path, line, what, excerpt(text))
    return header, lines[len(expected) + 1 :]


def _names(path: PathLike, header: Header, end: int) -> list[str]:
    """Names of the alternatives, their numbers if they have none; `end` is the line after the header."""
    names: dict[int, str] = {}
    for key, (line, name) in header.items():
        if key.startswith(_NAME):
            number = _integer(path, line, key.removeprefix(_NAME), "the number of an alternative", 1)
            for other in (other for other, known in names.items() if known == name):
                found = f"{excerpt(name)} for {other} and for {number}"
                raise malformed(path, line, "different names of the alternatives", found)
            names[number] = name
    line, n_alternatives = end, len(names)
    if "NUMBER ALTERNATIVES" in header:
        line, text = header["NUMBER ALTERNATIVES"]
        n_alternatives = _integer(path, line, text, "number alternatives")
    if not n_alternatives:
        raise malformed(path, line, "alternatives in the header", "none")
    numbers = range(1, n_alternatives + 1)
    if names and sorted(names) != list(numbers):
        missing = [number for number in numbers if number not in names]
        found = f"none for {missing[0]}" if missing else f"one for {max(names)}"
        raise malformed(path, line, f"names for the alternatives 1 to {n_alternatives}", found)
    return [names.get(number, str(number)) for number in numbers]


def _order(path: PathLike, line: int, text: str, kind: str, n_alternatives: int) -> Order:
    """Groups of tied alternatives, counted from 0."""
    compact = re.sub(r"\{\},?|,\{\}", "", "".join(text.split()))  # an empty group says nothing
    if not _ORDER.fullmatch(compact):
        raise malformed(path, line, "alternatives such as 1,2,{3,4}", excerpt(text.strip()))
    order: Order = []
    seen: set[int] = set()
    for tied, single in _ITEM.findall(compact):
        numbers = [_integer(path, line, n, "the number of an alternative", 1) for n in (tied or single).split(",")]
        for number in numbers:
            if number > n_alternatives:
                raise malformed(path, line, f"an alternative from 1 to {n_alternatives}", str(number))
            if number in seen:
                raise malformed(path, line, "each alternative once", f"{number} twice")
            seen.add(number)
        if len(numbers) > 1 and kind.startswith("s"):
            raise malformed(path, line, f"an order without ties (type {kind})", excerpt(f"{{{tied}}}"))
        order.append(tuple(number - 1 for number in numbers))
    if len(seen) < n_alternatives and kind.endswith("c"):
        expected = f"a complete order of {n_alternatives} alternatives (type {kind})"
        raise malformed(path, line, expected, f"{len(seen)} of them")
    return order


def _integer(path: PathLike, line: int, text: str, what: str, least: int = 0) -> int:
    if not text.strip().isdecimal() or int(text) < least:
        raise malformed(path, line, f"{what}, an integer of at least {least}", excerpt(text.strip()))
    return int(text)
