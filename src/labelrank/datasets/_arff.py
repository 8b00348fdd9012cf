"""ARFF, dense and sparse, and the RANKING attribute of its extension: just enough for the readers."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrank.datasets._files import PathLike, excerpt, malformed, read_lines

_NUMERIC = ("numeric", "real", "integer")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_MISSING = float("nan")


@dataclass(frozen=True)
class Attribute:
    """A declaration of the header. `values` are those of a nominal or ranking attribute, as declared."""

    name: str
    kind: str  # numeric, nominal, ranking, or text: a string or a date, which is skipped
    values: tuple[str, ...]
    line: int

    @property
    def is_number(self) -> bool:
        """Whether one column holds it: numbers, and nominal attributes declared {0, 1}."""
        return self.kind == "numeric" or (self.kind == "nominal" and self.values == ("0", "1"))


@dataclass
class Arff:
    """A file. Nominal values are stored as their place in the declaration, missing ones as NaN."""

    path: PathLike
    relation: str = ""
    comments: list[str] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)
    is_sparse: bool = False
    lines: list[int] = field(default_factory=list)  # of the instances
    # dense: a value per attribute and instance; sparse: the values given, with their row and column
    values: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    columns: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    rankings: list[str | None] = field(default_factory=list)  # the text of the RANKING attribute

    def index(self, name: str) -> int | None:
        """The place of an attribute."""
        return next((i for i, attribute in enumerate(self.attributes) if attribute.name == name), None)

    def given(self, column: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """The rows in which a sparse file gives an attribute, and the values."""
        mask = self.columns == column
        return self.rows[mask], self.values[mask]


# ------------------------------------------------------------------------------------------------------------
# Quotes
# ------------------------------------------------------------------------------------------------------------


def split_outside_quotes(text: str, separator: str) -> list[str]:
    """The pieces between separators, stripped, quotes kept; ValueError when a quote does not end."""
    pieces: list[str] = []
    start = 0
    for i, character in _outside_quotes(text):
        if character == separator:
            pieces.append(text[start:i].strip())
            start = i + 1
    pieces.append(text[start:].strip())
    return pieces


def unquote(text: str) -> str:
    """The text itself, or what is between its quotes with the escapes resolved."""
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1])
    return text


def _outside_quotes(text: str) -> Iterator[tuple[int, str]]:
    """(place, character) of what is not inside quotes. A quote opens only where a value begins."""
    quote = ""
    escaped = False
    fresh = True
    for i, character in enumerate(text):
        if quote:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == quote:
                quote = ""
                fresh = False
        elif fresh and character in "'\"":
            quote = character
        else:
            yield i, character
            fresh = character in ",{>| \t" or (fresh and character.isspace())
    if quote:
        raise ValueError(f"a quote {quote} that does not end")


def _without_comment(text: str) -> str:
    for i, character in _outside_quotes(text):
        if character == "%":
            return text[:i].rstrip()
    return text


# ------------------------------------------------------------------------------------------------------------
# Parsing
# ------------------------------------------------------------------------------------------------------------


def read_arff(path: PathLike, *, ignore: Collection[str] = (), encoding: str = "utf-8") -> Arff:
    """Parse a file. String and date attributes are an error unless `ignore` names them."""
    arff = Arff(path)
    lines = read_lines(path, encoding)
    _read_header(arff, lines, ignore)
    unknown = [name for name in ignore if arff.index(name) is None]
    if unknown:
        names = [attribute.name for attribute in arff.attributes]
        raise ValueError(f"ignore names {unknown[0]!r}, which is not an attribute of the file: {names}")
    _read_data(arff, lines)
    return arff


def _clean(arff: Arff, line: int, text: str) -> str:
    """The text of a line without blanks at its ends and without comment."""
    text = text.strip()
    if "%" not in text:
        return text
    if text.startswith("%"):
        if not arff.lines:
            arff.comments.append(text.lstrip("%").strip())
        return ""
    try:
        return _without_comment(text)
    except ValueError as error:
        raise malformed(arff.path, line, "quotes in pairs", str(error)) from error


def _read_header(arff: Arff, lines: Iterator[tuple[int, str]], ignore: Collection[str]) -> None:
    number = 0
    for number, raw in lines:
        text = _clean(arff, number, raw)
        if not text:
            continue
        keyword = text.split(None, 1)[0].lower()
        if keyword == "@relation":
            arff.relation = unquote(text[len(keyword) :].strip())
        elif keyword == "@attribute":
            attribute = _attribute(arff.path, number, text[len(keyword) :].strip(), ignore)
            if arff.index(attribute.name) is not None:
                raise malformed(arff.path, number, "attributes of different names", f"{attribute.name!r} again")
            arff.attributes.append(attribute)
        elif keyword == "@data":
            if not arff.attributes:
                raise malformed(arff.path, number, "attributes before @data", "none")
            return
        else:
            raise malformed(arff.path, number, "@relation, @attribute or @data", excerpt(text))
    raise malformed(arff.path, number + 1, "@data", "the end of the file")


def _attribute(path: PathLike, line: int, text: str, ignore: Collection[str]) -> Attribute:
    match = re.match(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{'"][^\s{]*)\s*(.*)""", text, re.DOTALL)
    if not match or not match[2]:
        raise malformed(path, line, "@attribute name type", excerpt("@attribute " + text))
    name, declared = unquote(match[1]), match[2].strip()
    kind = re.split(r"[\s{]", declared, maxsplit=1)[0].lower()
    if kind in _NUMERIC:
        return Attribute(name, "numeric", (), line)
    if kind in ("", "ranking"):
        values = _declared_values(path, line, declared[len(kind) :].strip())
        if kind == "":
            return Attribute(name, "nominal", values, line)
        for value in values:
            if re.search("[>|]", value):
                raise malformed(path, line, "labels without > and |", repr(value))
        return Attribute(name, "ranking", values, line)
    if kind in ("string", "date"):
        if name in ignore:
            return Attribute(name, "text", (), line)
        found = f"the {kind} attribute {name!r}; leave it out with ignore=[{name!r}]"
        raise malformed(path, line, "numeric and nominal attributes", found)
    raise malformed(path, line, "a type: numeric, real, integer, {values} or RANKING {labels}", excerpt(declared))


def _declared_values(path: PathLike, line: int, text: str) -> tuple[str, ...]:
    if not (text.startswith("{") and text.endswith("}")):
        raise malformed(path, line, "values in braces, {a, b, c}", excerpt(text))
    try:
        values = tuple(unquote(piece) for piece in split_outside_quotes(text[1:-1], ","))
    except ValueError as error:
        raise malformed(path, line, "quotes in pairs", str(error)) from error
    if not all(values):
        raise malformed(path, line, "values between the commas", excerpt(text))
    repeated = [value for i, value in enumerate(values) if value in values[:i]]
    if repeated:
        raise malformed(path, line, "different values", f"{repeated[0]!r} twice")
    return values


def _read_data(arff: Arff, lines: Iterator[tuple[int, str]]) -> None:
    values = array("d")
    rows, columns = array("q"), array("q")
    converters = [_converter(arff, attribute) for attribute in arff.attributes]
    for number, raw in lines:
        text = _clean(arff, number, raw)
        if not text:
            continue
        starts_brace = text.startswith("{")
        if not arff.lines:
            arff.is_sparse = starts_brace
        elif starts_brace != arff.is_sparse:
            kinds = ("a dense instance, values with commas", "a sparse instance in braces")
            raise malformed(arff.path, number, kinds[arff.is_sparse], excerpt(text))
        if starts_brace:
            places, fields = _sparse_fields(arff, number, text)
            used = [converters[place] for place in places]
            rows.extend([len(arff.lines)] * len(places))
            columns.extend(places)
        else:
            places, fields, used = None, _dense_fields(arff, number, text), converters
        try:
            values.extend([convert(value) for convert, value in zip(used, fields, strict=True)])
        except (KeyError, ValueError):
            _raise_for_value(arff, number, places, fields, used)
        arff.lines.append(number)
    flat = np.array(values, dtype=np.float64)
    if arff.is_sparse:
        arff.values = flat
        arff.rows, arff.columns = np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)
    else:
        arff.values = flat.reshape(len(arff.lines), len(arff.attributes))


def _dense_fields(arff: Arff, line: int, text: str) -> list[str]:
    expected = len(arff.attributes)
    if "'" in text or '"' in text:
        try:
            fields = split_outside_quotes(text, ",")
        except ValueError as error:
            raise malformed(arff.path, line, "quotes in pairs", str(error)) from error
    else:
        fields = [piece.strip() for piece in text.split(",")]
        if len(fields) == 1 and expected > 1:
            fields = text.split()  # blanks separate values too
    if len(fields) != expected:
        raise malformed(arff.path, line, f"{expected} values, one per attribute", str(len(fields)))
    return fields


def _sparse_fields(arff: Arff, line: int, text: str) -> tuple[list[int], list[str]]:
    if not text.endswith("}"):
        raise malformed(arff.path, line, "a sparse instance that ends in }", excerpt(text[-20:]))
    body = text[1:-1].strip()
    places: list[int] = []
    fields: list[str] = []
    try:
        pieces = split_outside_quotes(body, ",") if body else []
    except ValueError as error:
        raise malformed(arff.path, line, "quotes in pairs", str(error)) from error
    for piece in pieces:
        index, value = (*piece.split(None, 1), "", "")[:2]
        if not index.isdecimal() or not value.strip():
            raise malformed(arff.path, line, "pairs of index and value", excerpt(piece))
        place = int(index)
        if place >= len(arff.attributes):
            expected = f"an index from 0 to {len(arff.attributes) - 1}"
            raise malformed(arff.path, line, expected, index)
        if places and place <= places[-1]:
            raise malformed(arff.path, line, f"an index larger than {places[-1]}", index)
        places.append(place)
        fields.append(value.strip())
    return places, fields


def _converter(arff: Arff, attribute: Attribute) -> Callable[[str], float]:
    """Text to number, KeyError or ValueError when it cannot be one."""
    if attribute.kind == "numeric":

        def number(text: str) -> float:
            return _MISSING if text == "?" else float(text)

        return number
    if attribute.kind == "nominal":
        codes: dict[str, float] = {value: float(code) for code, value in enumerate(attribute.values)}
        # Values are found as they are written; a quoted one costs a second look.
        codes.setdefault("?", _MISSING)

        def code(text: str) -> float:
            return codes[text] if text in codes else codes[unquote(text)]

        return code
    if attribute.kind == "ranking":

        def ranking(text: str) -> float:
            arff.rankings.append(None if text == "?" else text)
            return _MISSING

        return ranking
    return lambda text: _MISSING


def _raise_for_value(arff: Arff, line: int, places: Any, fields: list[str], used: list[Any]) -> None:
    for i, (convert, text) in enumerate(zip(used, fields, strict=True)):
        attribute = arff.attributes[i if places is None else places[i]]
        try:
            convert(text)
        except (KeyError, ValueError):
            if attribute.kind == "numeric":
                expected = f"a number or ? for the attribute {attribute.name!r}"
            else:
                expected = f"one of {{{', '.join(attribute.values)}}} or ? for the attribute {attribute.name!r}"
            raise malformed(arff.path, line, expected, excerpt(text)) from None


# ------------------------------------------------------------------------------------------------------------
# Features
# ------------------------------------------------------------------------------------------------------------


def features_from_arff(arff: Arff, wanted: list[int]) -> tuple[Any, list[str]]:
    """Matrix of the wanted attributes (an array, or CSR of a sparse file), and the names of its columns.

    Numbers and {0, 1} take one column; other nominal attributes one column ``name=value`` per declared value.
    """
    names: list[str] = []
    offsets: list[int] = []
    for place in wanted:
        attribute = arff.attributes[place]
        offsets.append(len(names))
        if attribute.is_number:
            names.append(attribute.name)
        else:
            names.extend(f"{attribute.name}={value}" for value in attribute.values)
    build = _sparse_features if arff.is_sparse else _dense_features
    return build(arff, wanted, offsets, len(names)), names


def _dense_features(arff: Arff, wanted: list[int], offsets: list[int], width: int) -> npt.NDArray[np.float64]:
    data = np.zeros((len(arff.lines), width))
    for place, offset in zip(wanted, offsets, strict=True):
        attribute, column = arff.attributes[place], arff.values[:, place]
        if attribute.is_number:
            data[:, offset] = column
        else:
            known = ~np.isnan(column)
            data[np.flatnonzero(known), offset + column[known].astype(np.intp)] = 1.0
            data[~known, offset : offset + len(attribute.values)] = np.nan
    return data


def _sparse_features(arff: Arff, wanted: list[int], offsets: list[int], width: int) -> sparse.csr_array:
    n_samples = len(arff.lines)
    target = np.full(len(arff.attributes), -1, dtype=np.int64)
    for place, offset in zip(wanted, offsets, strict=True):
        if arff.attributes[place].is_number:
            target[place] = offset
    direct = target[arff.columns] >= 0
    rows, columns, values = [arff.rows[direct]], [target[arff.columns[direct]]], [arff.values[direct]]
    for place, offset in zip(wanted, offsets, strict=True):
        attribute = arff.attributes[place]
        if attribute.is_number:
            continue
        # An attribute that a sparse instance leaves out has its first declared value.
        codes = np.zeros(n_samples)
        given, code = arff.given(place)
        codes[given] = code
        known = ~np.isnan(codes)
        rows.append(np.flatnonzero(known))
        columns.append(offset + codes[known].astype(np.int64))
        values.append(np.ones(int(known.sum())))
        missing = np.flatnonzero(~known)
        rows.append(np.repeat(missing, len(attribute.values)))
        columns.append(np.tile(offset + np.arange(len(attribute.values)), len(missing)))
        values.append(np.full(len(missing) * len(attribute.values), np.nan))
    triplets = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    data = sparse.csr_array(triplets, shape=(n_samples, width))
    data.eliminate_zeros()
    return data
