"""ARFF, dense and sparse, and the RANKING attribute of its extension: just enough for the readers."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrank.datasets._columns import one_hot
from labelrank.datasets._files import PathLike, excerpt, malformed, read_lines

_NUMERIC = ("numeric", "real", "integer")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
# A text in quotes, a quote that does not end, or a mark outside of quotes. A quote opens only where a value begins.
_MARKS = re.compile(r"""(?<![^,{>|\s])(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?P<open>['"]))|[,>|%]""", re.DOTALL)
_ATTRIBUTE = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{'"][^\s{]*)\s*(.*)""", re.DOTALL)


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
    values: Any = None  # of shape (n_instances, n_attributes): an array, a csc_array for a sparse file
    rankings: list[str | None] = field(default_factory=list)  # the text of the RANKING attribute

    def column(self, place: int) -> npt.NDArray[np.float64]:
        """All values of an attribute. One that a sparse instance leaves out is 0, the code of its first value."""
        values = self.values[:, [place]]
        return np.asarray(values.toarray() if self.is_sparse else values)[:, 0]

    def description(self, *more: str) -> str:
        """The comments at the top of the file, its title and further lines."""
        return "\n".join(filter(None, [*self.comments, self.relation, *more]))


# --- Quotes


def split_outside_quotes(path: PathLike, line: int, text: str, separator: str) -> list[str]:
    """The pieces of a text between separators, stripped, quotes kept."""
    if "'" not in text and '"' not in text:
        return [piece.strip() for piece in text.split(separator)]
    places = [place for place, mark in _marks(path, line, text) if mark == separator]
    return [text[a + 1 : b].strip() for a, b in zip([-1, *places], [*places, len(text)], strict=True)]


def unquote(text: str) -> str:
    """The text itself, or what is between its quotes with the escapes resolved."""
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1])
    return text


def _marks(path: PathLike, line: int, text: str) -> Iterator[tuple[int, str]]:
    """(place, character) of the separators and comment signs that are not inside quotes."""
    for match in _MARKS.finditer(text):
        if match["open"]:
            raise malformed(path, line, "quotes in pairs", f"a quote {match['open']} that does not end")
        if match[0] in ",>|%":
            yield match.start(), match[0]


# --- Header


def read_arff(path: PathLike, *, ignore: Collection[str] = (), encoding: str = "utf-8") -> Arff:
    """Parse a file. String and date attributes are an error unless `ignore` names them."""
    arff = Arff(path)
    lines = _content(arff, encoding)
    _read_header(arff, lines, ignore)
    names = [attribute.name for attribute in arff.attributes]
    unknown = [name for name in ignore if name not in names]
    if unknown:
        raise ValueError(f"ignore names {unknown[0]!r}, which is not an attribute of the file: {names}")
    _read_data(arff, lines)
    return arff


def _content(arff: Arff, encoding: str) -> Iterator[tuple[int, str]]:
    """(line number, text) of the lines that are not empty once comments are gone; keeps the comments at the top."""
    for number, line in read_lines(arff.path, encoding):
        text = line.strip()
        if text.startswith("%"):
            if not arff.lines:
                arff.comments.append(text.lstrip("%").strip())
            continue
        if "%" in text:
            comment = next((place for place, mark in _marks(arff.path, number, text) if mark == "%"), len(text))
            text = text[:comment].rstrip()
        if text:
            yield number, text


def _read_header(arff: Arff, lines: Iterator[tuple[int, str]], ignore: Collection[str]) -> None:
    number = 0
    names = set()
    for number, text in lines:
        keyword = text.split(None, 1)[0].lower()
        rest = text[len(keyword) :].strip()
        if keyword == "@relation":
            arff.relation = unquote(rest)
        elif keyword == "@attribute":
            attribute = _attribute(arff.path, number, rest, ignore)
            if attribute.name in names:
                raise malformed(arff.path, number, "attributes of different names", f"{attribute.name!r} again")
            names.add(attribute.name)
            arff.attributes.append(attribute)
        elif keyword == "@data":
            if not arff.attributes:
                raise malformed(arff.path, number, "attributes before @data", "none")
            return
        else:
            raise malformed(arff.path, number, "@relation, @attribute or @data", excerpt(text))
    raise malformed(arff.path, number + 1, "@data", "the end of the file")


def _attribute(path: PathLike, line: int, text: str, ignore: Collection[str]) -> Attribute:
    match = _ATTRIBUTE.match(text)
    if not match or not match[2]:
        raise malformed(path, line, "@attribute name type", excerpt("@attribute " + text))
    name, declared = unquote(match[1]), match[2].strip()
    kind = re.split(r"[\s{]", declared, maxsplit=1)[0].lower()
    if kind in _NUMERIC:
        return Attribute(name, "numeric", (), line)
    if kind in ("string", "date"):
        if name in ignore:
            return Attribute(name, "text", (), line)
        found = f"the {kind} attribute {name!r}; leave it out with ignore=[{name!r}]"
        raise malformed(path, line, "numeric and nominal attributes", found)
    if kind not in ("", "ranking"):
        raise malformed(path, line, "a type: numeric, real, integer, {values} or RANKING {labels}", excerpt(declared))
    values = _declared_values(path, line, declared[len(kind) :].strip())
    for value in values:
        if kind == "ranking" and re.search("[>|]", value):
            raise malformed(path, line, "labels without > and |", repr(value))
    return Attribute(name, kind or "nominal", values, line)


def _declared_values(path: PathLike, line: int, text: str) -> tuple[str, ...]:
    if not (text.startswith("{") and text.endswith("}")):
        raise malformed(path, line, "values in braces, {a, b, c}", excerpt(text))
    values = tuple(unquote(piece) for piece in split_outside_quotes(path, line, text[1:-1], ","))
    if not all(values):
        raise malformed(path, line, "values between the commas", excerpt(text))
    repeated = [value for i, value in enumerate(values) if value in values[:i]]
    if repeated:
        raise malformed(path, line, "different values", f"{repeated[0]!r} twice")
    return values


# --- Data


def _read_data(arff: Arff, lines: Iterator[tuple[int, str]]) -> None:
    values = array("d")
    columns, starts = array("q"), array("q", [0])
    converters = [_converter(arff, attribute) for attribute in arff.attributes]
    everywhere = range(len(converters))
    for number, text in lines:
        in_braces = text.startswith("{")
        if not arff.lines:
            arff.is_sparse = in_braces
        elif in_braces != arff.is_sparse:
            kinds = ("a dense instance, values with commas", "a sparse instance in braces")
            raise malformed(arff.path, number, kinds[arff.is_sparse], excerpt(text))
        places: Sequence[int] = everywhere
        if in_braces:
            places, fields = _sparse_fields(arff, number, text)
            columns.extend(places)
        else:
            fields = _dense_fields(arff, number, text)
        arff.lines.append(number)
        values.extend([converters[place](field) for place, field in zip(places, fields, strict=True)])
        starts.append(len(values))
    shape = (len(arff.lines), len(arff.attributes))
    flat = np.array(values, dtype=np.float64)
    if arff.is_sparse:
        arff.values = sparse.csr_array((flat, np.array(columns), np.array(starts)), shape=shape).tocsc()
    else:
        arff.values = flat.reshape(shape)


def _dense_fields(arff: Arff, line: int, text: str) -> list[str]:
    expected = len(arff.attributes)
    fields = split_outside_quotes(arff.path, line, text, ",")
    if len(fields) == 1 and expected > 1 and fields[0] == text:
        fields = text.split()  # blanks separate values too
    if len(fields) != expected:
        raise malformed(arff.path, line, f"{expected} values, one per attribute", str(len(fields)))
    return fields


def _sparse_fields(arff: Arff, line: int, text: str) -> tuple[list[int], list[str]]:
    if not text.endswith("}"):
        raise malformed(arff.path, line, "a sparse instance that ends in }", excerpt(text[-20:]))
    places: list[int] = []
    fields: list[str] = []
    body = text[1:-1].strip()
    for piece in split_outside_quotes(arff.path, line, body, ",") if body else []:
        index, value = (*piece.split(None, 1), "", "")[:2]
        if not index.isdecimal() or not value:
            raise malformed(arff.path, line, "pairs of index and value", excerpt(piece))
        place = int(index)
        if place >= len(arff.attributes):
            raise malformed(arff.path, line, f"an index from 0 to {len(arff.attributes) - 1}", index)
        if places and place <= places[-1]:
            raise malformed(arff.path, line, f"an index larger than {places[-1]}", index)
        places.append(place)
        fields.append(value)
    return places, fields


def _converter(arff: Arff, attribute: Attribute) -> Callable[[str], float]:
    """Function from the text of a value on the last line to its number."""
    codes = {"?": math.nan} | {value: float(code) for code, value in enumerate(attribute.values)}

    def number(text: str) -> float:
        try:
            return math.nan if text == "?" else float(text)
        except ValueError:
            expected = f"a number or ? for the attribute {attribute.name!r}"
            raise malformed(arff.path, arff.lines[-1], expected, excerpt(text)) from None

    def code(text: str) -> float:
        value = text if text in codes else unquote(text)
        if value not in codes:
            expected = f"one of {{{', '.join(attribute.values)}}} or ? for the attribute {attribute.name!r}"
            raise malformed(arff.path, arff.lines[-1], expected, excerpt(text))
        return codes[value]

    def ranking(text: str) -> float:
        arff.rankings.append(None if text == "?" else text)
        return math.nan

    converters = {"numeric": number, "nominal": code, "ranking": ranking}
    return converters.get(attribute.kind, lambda text: math.nan)


# --- Features


def features_from_arff(arff: Arff, wanted: list[int]) -> tuple[Any, list[str]]:
    """Matrix of the wanted attributes (an array, or CSR of a sparse file), and the names of its columns.

    Numbers and {0, 1} take one column; other nominal attributes one column ``name=value`` per declared value.
    """
    names: list[str] = []
    blocks: list[Any] = [arff.values[:, []]]
    for is_number, places in groupby(wanted, key=lambda place: arff.attributes[place].is_number):
        if is_number:
            columns = list(places)
            blocks.append(arff.values[:, columns])
            names.extend(arff.attributes[place].name for place in columns)
            continue
        for place in places:
            attribute = arff.attributes[place]
            codes = np.nan_to_num(arff.column(place), nan=-1).astype(np.intp)
            blocks.append(one_hot(codes, len(attribute.values)))
            names.extend(f"{attribute.name}={value}" for value in attribute.values)
    if not arff.is_sparse:
        return np.hstack(blocks), names
    data = sparse.csr_array(sparse.hstack(blocks, format="csr"))
    data.eliminate_zeros()
    return data, names
