"""PrefLib files: elections, one line per ballot."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._files import PathLike, excerpt, malformed, read_lines
from labelrank.supervision import ranks_from_orders

_TYPES = ("soc", "soi", "toc", "toi")
_ITEM = re.compile(r"\{([^{}]*)\}|([^{},]+)")
_ORDER = re.compile(r"(?:\{[^{}]*\}|[^{},]+)(?:,(?:\{[^{}]*\}|[^{},]+))*")

Order = list[tuple[int, ...]]


def read_preflib(path: PathLike, *, encoding: str = "utf-8") -> Bunch:
    """Read orders of alternatives from a PrefLib file: ``.soc``, ``.soi``, ``.toc`` or ``.toi``.

    The four types are strict or with ties (s, t) and complete or incomplete (c, i). Today's format (a header
    of ``# KEY: value``, then ``count: 1,2,{3,4}``) and the old one (the number of alternatives, their names,
    the totals, then ``count,1,2,{3,4}``) are both read. What the header says about the type and the totals is
    checked.

    Parameters
    ----------
    path : str or path-like
        The file; one that ends in ``.gz`` is unpacked.
    encoding : str, default="utf-8"
        The encoding of the file. A byte order mark is ignored.

    Returns
    -------
    Bunch
        - ``data``: ndarray of shape (n_voters, 0): an election has no features;
        - ``target``: ndarray of shape (n_voters, n_alternatives), ranks; a row per voter, so an order with
          count 3 is there three times. Alternatives that an order leaves out are NaN;
          :func:`labelrank.from_top_k` ties them below the others, when that is what leaving out means;
        - ``feature_names``: empty;
        - ``label_names``: the names of the alternatives;
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
    lines = [(number, text.strip()) for number, text in read_lines(path, encoding)]
    lines = [(number, text) for number, text in lines if text]
    if not lines:
        raise malformed(path, 1, "a PrefLib header", "an empty file")
    parse = _parse_modern if lines[0][1].startswith("#") else _parse_old
    election = parse(path, lines, suffix)

    n_alternatives = len(election.names)
    counts = np.array([count for count, _ in election.ballots], dtype=np.intp)
    orders = [[tuple(a - 1 for a in group) for group in order] for _, order in election.ballots]
    target = np.repeat(ranks_from_orders(orders, n_labels=n_alternatives), counts, axis=0)
    descr = [
        election.title,
        election.description,
        f"{read_from(path, len(target), 0, n_alternatives)} Voters; PrefLib type {election.kind}.",
    ]
    return make_bunch(np.empty((len(target), 0)), target, [], election.names, "\n\n".join(filter(None, descr)))


class _Election:
    """What both formats have in common."""

    def __init__(self, path: PathLike, kind: str) -> None:
        self.path = path
        self.kind = kind
        self.names: list[str] = []
        self.title = ""
        self.description = ""
        self.ballots: list[tuple[int, Order]] = []

    def add_ballot(self, line: int, count: str, order: str) -> None:
        self.ballots.append((self.number(line, count, "the number of voters", least=1), self._order(line, order)))

    def number(self, line: int, text: str, what: str, least: int = 0) -> int:
        if not text.strip().isdecimal() or int(text) < least:
            raise malformed(self.path, line, f"{what}, an integer of at least {least}", excerpt(text.strip()))
        return int(text)

    def _order(self, line: int, text: str) -> Order:
        compact = re.sub(r"\{\},?|,\{\}", "", "".join(text.split()))  # an empty group says nothing
        if not _ORDER.fullmatch(compact):
            raise malformed(self.path, line, "alternatives such as 1,2,{3,4}", excerpt(text.strip()))
        order: Order = []
        seen: set[int] = set()
        for tied, single in _ITEM.findall(compact):
            group = tuple(self._alternative(line, name) for name in (tied.split(",") if tied else [single]))
            for alternative in group:
                if alternative in seen:
                    raise malformed(self.path, line, "each alternative once", f"{alternative} twice")
                seen.add(alternative)
            if len(group) > 1 and self.kind.startswith("s"):
                raise malformed(self.path, line, f"an order without ties (type {self.kind})", excerpt(f"{{{tied}}}"))
            order.append(group)
        if len(seen) < len(self.names) and self.kind.endswith("c"):
            raise malformed(
                self.path,
                line,
                f"a complete order of {len(self.names)} alternatives (type {self.kind})",
                f"{len(seen)} of them",
            )
        return order

    def _alternative(self, line: int, text: str) -> int:
        number = self.number(line, text, "the number of an alternative", least=1)
        if number > len(self.names):
            raise malformed(self.path, line, f"an alternative from 1 to {len(self.names)}", str(number))
        return number

    def check_totals(self, n_voters: tuple[int, int] | None, n_orders: tuple[int, int] | None) -> None:
        """Compare with (line, total) of the header; a file that was cut off is found here."""
        found_voters = sum(count for count, _ in self.ballots)
        for declared, found, what in (
            (n_voters, found_voters, "voters"),
            (n_orders, len(self.ballots), "orders"),
        ):
            if declared is not None and declared[1] != found:
                raise malformed(
                    self.path, declared[0], f"{declared[1]} {what}, as declared there", f"{found} in the file"
                )


def _parse_modern(path: PathLike, lines: list[tuple[int, str]], suffix: str) -> _Election:
    election = _Election(path, suffix if suffix in _TYPES else "")
    totals: dict[str, tuple[int, int]] = {}
    names: dict[int, str] = {}
    number_of: dict[str, int] = {}
    body = len(lines)
    for i, (line, text) in enumerate(lines):
        if not text.startswith("#"):
            body = i
            break
        key, colon, value = text.removeprefix("#").partition(":")
        key, value = " ".join(key.split()).upper(), value.strip()
        if not colon:
            continue  # a remark
        if key == "DATA TYPE":
            _check_type(path, line, value.lower())
            election.kind = value.lower()
        elif key in ("NUMBER ALTERNATIVES", "NUMBER VOTERS", "NUMBER UNIQUE ORDERS"):
            totals[key] = (line, election.number(line, value, key.lower()))
        elif key.startswith("ALTERNATIVE NAME "):
            number = election.number(line, key.removeprefix("ALTERNATIVE NAME "), "the number of an alternative", 1)
            if number in names:
                raise malformed(path, line, "a name for each alternative", f"a second one for {number}")
            if value in number_of:
                raise _same_name(path, line, value, number_of[value], number)
            names[number], number_of[value] = value, number
        elif key == "TITLE":
            election.title = value
        elif key == "DESCRIPTION":
            election.description = value
    if not election.kind:
        _check_type(path, None, suffix)
    end = lines[body][0] if body < len(lines) else lines[-1][0] + 1  # where the header would have gone on
    _set_names(election, names, totals.get("NUMBER ALTERNATIVES"), end)
    for line, text in lines[body:]:
        if text.startswith("#"):
            continue
        count, colon, order = text.partition(":")
        if not colon:
            raise malformed(path, line, "count: order", excerpt(text))
        election.add_ballot(line, count, order)
    election.check_totals(totals.get("NUMBER VOTERS"), totals.get("NUMBER UNIQUE ORDERS"))
    return election


def _same_name(path: PathLike, line: int, name: str, first: int, second: int) -> ValueError:
    return malformed(path, line, "different names of the alternatives", f"{excerpt(name)} for {first} and for {second}")


def _set_names(election: _Election, names: dict[int, str], declared: tuple[int, int] | None, end: int) -> None:
    n_alternatives = declared[1] if declared else len(names)
    line = declared[0] if declared else end
    if not n_alternatives:
        raise malformed(election.path, line, "alternatives in the header", "none")
    if names and sorted(names) != list(range(1, n_alternatives + 1)):
        missing = [i for i in range(1, n_alternatives + 1) if i not in names]
        found = f"none for {missing[0]}" if missing else f"one for {max(names)}"
        raise malformed(election.path, line, f"names for the alternatives 1 to {n_alternatives}", found)
    election.names = [names.get(i, str(i)) for i in range(1, n_alternatives + 1)]


def _check_type(path: PathLike, line: int | None, kind: str) -> None:
    if kind not in _TYPES:
        raise malformed(path, line, "one of the types soc, soi, toc, toi (orders)", repr(kind))


def _parse_old(path: PathLike, lines: list[tuple[int, str]], suffix: str) -> _Election:
    _check_type(path, None, suffix)
    election = _Election(path, suffix)
    rest = iter(lines)

    def following(expected: str) -> tuple[int, str]:
        entry = next(rest, None)
        if entry is None:
            raise malformed(path, lines[-1][0] + 1, expected, "the end of the file")
        return entry

    line, text = following("the number of alternatives")
    n_alternatives = election.number(line, text, "the number of alternatives", least=1)
    for i in range(1, n_alternatives + 1):
        line, text = following(f"{i},name")
        number, comma, name = text.partition(",")
        if not comma or number.strip() != str(i):
            raise malformed(path, line, f"{i},name", excerpt(text))
        if name.strip() in election.names:
            raise _same_name(path, line, name.strip(), election.names.index(name.strip()) + 1, i)
        election.names.append(name.strip())
    line, text = following("voters,sum of counts,different orders")
    fields: list[Any] = text.split(",")
    if len(fields) != 3:
        raise malformed(path, line, "voters,sum of counts,different orders", excerpt(text))
    totals = [election.number(line, field, "a total") for field in fields]
    for ballot_line, ballot in rest:
        count, comma, order = ballot.partition(",")
        if not comma:
            raise malformed(path, ballot_line, "count,order", excerpt(ballot))
        election.add_ballot(ballot_line, count, order)
    election.check_totals((line, totals[1]), (line, totals[2]))
    return election
