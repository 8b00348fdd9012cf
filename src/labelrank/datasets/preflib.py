"""PrefLib files of elections."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._files import MAX_BYTES, DataFile, PathLike, excerpt, malformed
from labelrank.supervision import ranks_from_orders

_TYPES = ("soc", "soi", "toc", "toi")
_NAME = "ALTERNATIVE NAME "
_ITEM = re.compile(r"\{([^{}]*)\}|([^{},]+)")
_ORDER = re.compile(r"(?:\{[^{}]*\}|[^{},]+)(?:,(?:\{[^{}]*\}|[^{},]+))*")

Lines = list[tuple[int, str]]
Header = dict[str, tuple[int, str]]  # key -> (line, value)
Order = list[tuple[int, ...]]


def read_preflib(
    path: PathLike, *, encoding: str = "utf-8", as_frame: bool = False, max_bytes: int = MAX_BYTES
) -> Bunch:
    """Read orders of alternatives from a PrefLib file: ``.soc``, ``.soi``, ``.toc`` or ``.toi``.

    The four types are strict or with ties (s, t) and complete or incomplete (c, i). Both the present format (a header
    of ``# KEY: value``, then ``count: 1,2,{3,4}``) and the old one (the number of alternatives, their names, the
    totals, then ``count,1,2,{3,4}``) are supported. The type and the totals of the header are checked.

    Parameters
    ----------
    path : str or path-like
        The file, packed if its name ends in ``.gz`` or ``.bz2``.
    encoding : str, default="utf-8"
        Encoding of the file. A byte order mark is ignored.
    as_frame : bool, default=False
        Return ``data`` and ``target`` as data frames, see :func:`read_csv`.
    max_bytes : int, default=2**30
        Limit of the unpacked file and of each matrix that is made of it.

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
    with DataFile(path, encoding=encoding, max_bytes=max_bytes) as file:
        lines = [(number, text.strip()) for number, text in file.lines() if text.strip()]
        if not lines:
            raise malformed(file, 1, "a PrefLib header", "an empty file")
        modern = lines[0][1].startswith("#")
        header, rest = _modern_header(file, lines) if modern else _old_header(file, lines)
        type_line, kind = header.get("DATA TYPE", (None, _suffix(file.path)))
        kind = kind.lower()
        if kind not in _TYPES:
            raise malformed(file, type_line, "one of the types soc, soi, toc, toi (orders)", excerpt(kind))
        names = _names(file, header, rest[0][0] if rest else lines[-1][0] + 1)
        counts, orders = _ballots(file, rest, ":" if modern else ",", kind, len(names))
        totals = (("NUMBER VOTERS", "voters", sum(counts)), ("NUMBER UNIQUE ORDERS", "orders", len(counts)))
        for key, what, found in totals:
            if key in header:  # a file that was cut off is found here
                total = file.integer(*header[key], key.lower())
                if total != found:
                    raise malformed(file, header[key][0], f"{total} {what}, as declared there", f"{found} in the file")
        file.require(8 * max(sum(counts), len(counts)) * len(names), "the matrix of ranks")
        target = np.repeat(ranks_from_orders(orders, n_labels=len(names)), counts, axis=0)
        texts = [header[key][1] for key in ("TITLE", "DESCRIPTION") if key in header]
        texts.append(f"{read_from(file, len(target), 0, len(names))} Voters; PrefLib type {kind}.")
        data, descr = np.empty((len(target), 0)), "\n\n".join(filter(None, texts))
        return make_bunch(data, target, [], names, descr, as_frame=as_frame, file=file)


def _suffix(path: Path) -> str:
    """``soc`` of ``votes.soc.gz``."""
    packed = path.suffix.lower() in (".gz", ".bz2")
    return (path.with_suffix("") if packed else path).suffix.removeprefix(".")


def _ballots(
    file: DataFile, lines: Lines, separator: str, kind: str, n_alternatives: int
) -> tuple[list[int], list[Order]]:
    """Number of voters and order of each line."""
    counts, orders = [], []
    for line, text in lines:
        count, found, order = text.partition(separator)
        if not found:
            raise malformed(file, line, f"count{separator} order", excerpt(text))
        counts.append(file.integer(line, count, "the number of voters", 1))
        orders.append(_order(file, line, order, kind, n_alternatives))
    return counts, orders


def _modern_header(file: DataFile, lines: Lines) -> tuple[Header, Lines]:
    """The lines ``# KEY: value``, and the lines after them."""
    header: Header = {}
    n_lines = next((i for i, (_, text) in enumerate(lines) if not text.startswith("#")), len(lines))
    for line, text in lines[:n_lines]:
        key, colon, value = text.removeprefix("#").partition(":")
        key = " ".join(key.split()).upper()
        if key in header and key.startswith(_NAME):
            raise malformed(file, line, "a name for each alternative", f"a second one for {key.removeprefix(_NAME)}")
        if colon:  # other lines are remarks
            header[key] = (line, value.strip())
    return header, [(line, text) for line, text in lines[n_lines:] if not text.startswith("#")]


def _old_header(file: DataFile, lines: Lines) -> tuple[Header, Lines]:
    """The number of alternatives, their names, the totals with the keys of today's format, and the lines after them."""
    header: Header = {"NUMBER ALTERNATIVES": lines[0]}
    n_alternatives = file.integer(*lines[0], "the number of alternatives", 1)
    for i in range(1, n_alternatives + 2):
        what = f"{i},name" if i <= n_alternatives else "voters,sum of counts,different orders"
        if i >= len(lines):
            raise malformed(file, lines[-1][0] + 1, what, "the end of the file")
        line, text = lines[i]
        first, *others = text.split(",", 1 if i <= n_alternatives else -1)
        if i <= n_alternatives and first.strip() == str(i) and others:
            header[f"{_NAME}{i}"] = (line, others[0].strip())
        elif i > n_alternatives and len(others) == 2:
            header["NUMBER VOTERS"], header["NUMBER UNIQUE ORDERS"] = ((line, total) for total in others)
        else:
            raise malformed(file, line, what, excerpt(text))
    return header, lines[n_alternatives + 2 :]


def _names(file: DataFile, header: Header, end: int) -> list[str]:
    """Names of the alternatives, their numbers if they have none; `end` is the line after the header."""
    names: dict[int, str] = {}
    number_of: dict[str, int] = {}
    for key, (line, name) in header.items():
        if key.startswith(_NAME):
            number = file.integer(line, key.removeprefix(_NAME), "the number of an alternative", 1)
            if name in number_of:
                found = f"{excerpt(name)} for {number_of[name]} and for {number}"
                raise malformed(file, line, "different names of the alternatives", found)
            names[number] = name
            number_of[name] = number
    line, n_alternatives = end, len(names)
    if "NUMBER ALTERNATIVES" in header:
        line, text = header["NUMBER ALTERNATIVES"]
        n_alternatives = file.integer(line, text, "number alternatives")
    if not n_alternatives:
        raise malformed(file, line, "alternatives in the header", "none")
    numbers = range(1, n_alternatives + 1)
    missing = next((number for number in numbers if number not in names), None) if names else None
    if missing is not None or len(names) > n_alternatives:
        found = f"none for {missing}" if missing is not None else f"one for {max(names)}"
        raise malformed(file, line, f"names for the alternatives 1 to {n_alternatives}", found)
    file.require(100 * n_alternatives, f"the list of {n_alternatives} alternatives")
    return [names.get(number, str(number)) for number in numbers]


def _order(file: DataFile, line: int, text: str, kind: str, n_alternatives: int) -> Order:
    """Groups of tied alternatives, counted from 0."""
    compact = re.sub(r"\{\},?|,\{\}", "", "".join(text.split()))  # an empty group says nothing
    if not _ORDER.fullmatch(compact):
        raise malformed(file, line, "alternatives such as 1,2,{3,4}", excerpt(text.strip()))
    order: Order = []
    seen: set[int] = set()
    for tied, single in _ITEM.findall(compact):
        numbers = [file.integer(line, n, "the number of an alternative", 1) for n in (tied or single).split(",")]
        for number in numbers:
            if number > n_alternatives:
                raise malformed(file, line, f"an alternative from 1 to {n_alternatives}", str(number))
            if number in seen:
                raise malformed(file, line, "each alternative once", f"{number} twice")
            seen.add(number)
        if len(numbers) > 1 and kind.startswith("s"):
            raise malformed(file, line, f"an order without ties (type {kind})", excerpt(f"{{{tied}}}"))
        order.append(tuple(number - 1 for number in numbers))
    if len(seen) < n_alternatives and kind.endswith("c"):
        expected = f"a complete order of {n_alternatives} alternatives (type {kind})"
        raise malformed(file, line, expected, f"{len(seen)} of them")
    return order
