"""ARFF, dense and sparse, and the RANKING attribute of its extension: just enough for the readers."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrank.datasets._files import DataFile, excerpt, listing, malformed, repeated

_NUMERIC = ("numeric", "real", "integer")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
# A text in quotes, a quote that does not end, or a mark outside of quotes. A quote opens only where a value begins.
_MARKS = re.compile(r"""(?<![^,{>|\s])(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?P<open>['"]))|[,>|%]""", re.DOTALL)
_ATTRIBUTE = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{'"][^\s{]*)\s*(.*)""", re.DOTALL)


@dataclass(frozen=True)
class Attribute:
    """A declaration of the header. `values` are those of a nominal or ranking attribute, as declared."""

    name: str
    kind: str  # numeric, nominal, ranking, open (a string whose texts are kept) or text (which is skipped)
    values: tuple[str, ...]
    line: int

    @property
    def is_number(self) -> bool:
        """Whether one column holds it: numbers, and nominal attributes declared {0, 1}."""
        return self.kind == "numeric" or (self.kind == "nominal" and self.values == ("0", "1"))


@dataclass
class Arff:
    """A file. Nominal values are stored as their place in the declaration, missing ones as NaN."""

    file: DataFile
    relation: str = ""
    comments: list[str] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)
    is_sparse: bool = False
    lines: list[int] = field(default_factory=list)  # of the instances
    values: Any = None  # of shape (n_instances, n_attributes): an array, a csc_array for a sparse file
    rankings: list[str | None] = field(default_factory=list)  # the text of the RANKING attribute
    vocabularies: dict[str, dict[str, int]] = field(default_factory=dict)  # the codes of the texts of STRING attributes

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each attribute by its name."""
        return {attribute.name: place for place, attribute in enumerate(self.attributes)}

    def column(self, place: int) -> npt.NDArray[np.float64]:
        """All values of an attribute. One that a sparse instance leaves out is 0, the code of its first value."""
        if not self.is_sparse:
            return np.array(self.values[:, place])
        column = np.zeros(self.values.shape[0])
        entries = slice(*self.values.indptr[place : place + 2])
        column[self.values.indices[entries]] = self.values.data[entries]
        return column

    def texts(self, name: str) -> list[str]:
        """All values of an attribute as texts; a missing one is an error."""
        if name not in self.places:
            raise malformed(self.file, None, f"an attribute {name!r}", listing(self.places))
        place = self.places[name]
        values = list(self.vocabularies.get(name, ())) or self.attributes[place].values
        column = self.column(place)
        if np.isnan(column).any():
            raise malformed(self.file, self.lines[int(np.isnan(column).argmax())], f"a value of {name!r}", "?")
        return [values[int(code)] if values else f"{code:g}" for code in column.tolist()]

    def description(self, *more: str) -> str:
        """The comments at the top of the file, its title and further lines."""
        return "\n".join(filter(None, [*self.comments, self.relation, *more]))


# --- Quotes


def split_outside_quotes(file: DataFile, line: int, text: str, separator: str) -> list[str]:
    """The pieces of a text between separators, stripped, quotes kept."""
    if "'" not in text and '"' not in text:
        return [piece.strip() for piece in text.split(separator)]
    places = [place for place, mark in _marks(file, line, text) if mark == separator]
    return [text[a + 1 : b].strip() for a, b in zip([-1, *places], [*places, len(text)], strict=True)]


def unquote(text: str) -> str:
    """The text itself, or what is between its quotes with the escapes resolved."""
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1])
    return text


def _marks(file: DataFile, line: int, text: str) -> Iterator[tuple[int, str]]:
    """(place, character) of the separators and comment signs that are not inside quotes."""
    for match in _MARKS.finditer(text):
        if match["open"]:
            raise malformed(file, line, "quotes in pairs", f"a quote {match['open']} that does not end")
        if match[0] in ",>|%":
            yield match.start(), match[0]


# --- Header


def read_arff(file: DataFile, *, ignore: Collection[str] = (), texts: Collection[str] = ()) -> Arff:
    """Parse a file. String and date attributes are an error unless `ignore` or `texts` names them."""
    arff = Arff(file)
    lines = _content(arff)
    _read_header(arff, lines, set(ignore), texts)
    if unknown := [name for name in ignore if name not in arff.places]:
        raise ValueError(f"ignore names {unknown[0]!r}, which is not an attribute of the file: {listing(arff.places)}")
    _read_data(arff, lines)
    return arff


def _content(arff: Arff) -> Iterator[tuple[int, str]]:
    """(line number, text) of the lines that are not empty once comments are gone; keeps the comments at the top."""
    for number, line in arff.file.lines():
        text = line.strip()
        if text.startswith("%"):
            if not arff.lines:
                arff.comments.append(text.lstrip("%").strip())
            continue
        if "%" in text:
            comment = next((place for place, mark in _marks(arff.file, number, text) if mark == "%"), len(text))
            text = text[:comment].rstrip()
        if text:
            yield number, text


def _read_header(arff: Arff, lines: Iterator[tuple[int, str]], ignore: Collection[str], texts: Collection[str]) -> None:
    number = 0
    names = set()
    for number, text in lines:
        keyword = text.split(None, 1)[0].lower()
        rest = text[len(keyword) :].strip()
        if keyword == "@relation":
            arff.relation = unquote(rest)
        elif keyword == "@attribute":
            attribute = _attribute(arff.file, number, rest, ignore, texts)
            if attribute.name in names:
                raise malformed(arff.file, number, "attributes of different names", f"{attribute.name!r} again")
            names.add(attribute.name)
            arff.attributes.append(attribute)
        elif keyword == "@data":
            if not arff.attributes:
                raise malformed(arff.file, number, "attributes before @data", "none")
            return
        else:
            raise malformed(arff.file, number, "@relation, @attribute or @data", excerpt(text))
    raise malformed(arff.file, number + 1, "@data", "the end of the file")


def _attribute(file: DataFile, line: int, text: str, ignore: Collection[str], texts: Collection[str]) -> Attribute:
    match = _ATTRIBUTE.match(text)
    if not match or not match[2]:
        raise malformed(file, line, "@attribute name type", excerpt("@attribute " + text))
    name, declared = unquote(match[1]), match[2].strip()
    kind = re.split(r"[\s{]", declared, maxsplit=1)[0].lower()
    if kind in _NUMERIC:
        return Attribute(name, "numeric", (), line)
    if kind in ("string", "date"):
        if name in ignore or name in texts:
            return Attribute(name, "open" if name in texts else "text", (), line)
        found = f"the {kind} attribute {name!r}; leave it out with ignore=[{name!r}]"
        raise malformed(file, line, "numeric and nominal attributes", found)
    if kind not in ("", "ranking"):
        raise malformed(file, line, "a type: numeric, real, integer, {values} or RANKING {labels}", excerpt(declared))
    values = _declared_values(file, line, declared[len(kind) :].strip())
    for value in values:
        if kind == "ranking" and re.search("[>|]", value):
            raise malformed(file, line, "labels without > and |", repr(value))
    return Attribute(name, kind or "nominal", values, line)


def _declared_values(file: DataFile, line: int, text: str) -> tuple[str, ...]:
    if not (text.startswith("{") and text.endswith("}")):
        raise malformed(file, line, "values in braces, {a, b, c}", excerpt(text))
    values = tuple(unquote(piece) for piece in split_outside_quotes(file, line, text[1:-1], ","))
    if not all(values):
        raise malformed(file, line, "values between the commas", excerpt(text))
    if twice := repeated(values):
        raise malformed(file, line, "different values", f"{excerpt(twice[0])} twice")
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
            raise malformed(arff.file, number, kinds[arff.is_sparse], excerpt(text))
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
    fields = split_outside_quotes(arff.file, line, text, ",")
    if len(fields) == 1 and expected > 1 and fields[0] == text:
        fields = text.split()  # blanks separate values too
    if len(fields) != expected:
        raise malformed(arff.file, line, f"{expected} values, one per attribute", str(len(fields)))
    return fields


def _sparse_fields(arff: Arff, line: int, text: str) -> tuple[list[int], list[str]]:
    if not text.endswith("}"):
        raise malformed(arff.file, line, "a sparse instance that ends in }", excerpt(text[-20:]))
    places: list[int] = []
    fields: list[str] = []
    body = text[1:-1].strip()
    for piece in split_outside_quotes(arff.file, line, body, ",") if body else []:
        index, value = (*piece.split(None, 1), "", "")[:2]
        if not index or not value:
            raise malformed(arff.file, line, "pairs of index and value", excerpt(piece))
        place = arff.file.integer(line, index, "pairs of index and value: an index")
        if place >= len(arff.attributes):
            raise malformed(arff.file, line, f"an index from 0 to {len(arff.attributes) - 1}", index)
        if places and place <= places[-1]:
            raise malformed(arff.file, line, f"an index larger than {places[-1]}", index)
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
            raise malformed(arff.file, arff.lines[-1], expected, excerpt(text)) from None

    def code(text: str) -> float:
        value = text if text in codes else unquote(text)
        if value not in codes:
            expected = f"one of {listing(attribute.values)} or ? for the attribute {attribute.name!r}"
            raise malformed(arff.file, arff.lines[-1], expected, excerpt(text))
        return codes[value]

    def ranking(text: str) -> float:
        arff.rankings.append(None if text == "?" else text)
        return math.nan

    def open_code(text: str) -> float:
        vocabulary = arff.vocabularies.setdefault(attribute.name, {})
        return math.nan if text == "?" else float(vocabulary.setdefault(unquote(text), len(vocabulary)))

    converters = {"numeric": number, "nominal": code, "ranking": ranking, "open": open_code}
    return converters.get(attribute.kind, lambda text: math.nan)
