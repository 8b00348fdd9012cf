"""Mulan data sets: an ARFF file, and an XML file that names the labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import Bunch

from labelrank.datasets._arff import Arff, features_from_arff, read_arff
from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._files import PathLike, malformed


def read_mulan(
    path: PathLike, labels: PathLike | None = None, *, ignore: Sequence[str] = (), encoding: str = "utf-8"
) -> Bunch:
    """Read a multilabel data set in the format of Mulan: ARFF, dense or sparse, and XML.

    Parameters
    ----------
    path : str or path-like
        The ARFF file, packed by gzip if its name ends in ``.gz``.
    labels : str or path-like, optional
        The XML file that names the labels. By default the file of the same name in the same folder, if necessary
        without ``-train`` or ``-test``: ``yeast.xml`` for ``yeast-train.arff``.
    ignore : sequence of str, default=()
        Attributes that are not features. String and date attributes must be listed here.
    encoding : str, default="utf-8"
        Encoding of the ARFF file. A byte order mark is ignored.

    Returns
    -------
    Bunch
        - ``data``: ndarray of shape (n_samples, n_features), csr_array for a sparse file; columns as in
          :func:`read_xarff`;
        - ``target``: ndarray of shape (n_samples, n_labels), uint8, csr_array for a sparse file: 1 for each relevant
          label. It is an indicator, not a rank matrix; :meth:`labelrank.PreferenceGraphs.from_multilabel` converts it
          to preferences;
        - ``feature_names``: names of the features;
        - ``label_names``: names of the labels, in the order of the XML file;
        - ``DESCR``: the comments at the top of the file, and a description;
        - ``parents``: ndarray of shape (n_labels,), the parent of each label where the XML file nests them, else -1.

    References
    ----------
    G. Tsoumakas et al. Mulan: a Java library for multi-label learning. JMLR 12, 2011.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from labelrank.datasets import read_mulan
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "songs-train.arff").write_text('''@relation songs
    ... @attribute tempo numeric
    ... @attribute sad {0,1}
    ... @attribute calm {0,1}
    ... @data
    ... 0.5,1,1
    ... 1.5,0,1
    ... ''')
    >>> _ = (folder / "songs.xml").write_text('<labels><label name="calm"/><label name="sad"/></labels>')
    >>> read_mulan(folder / "songs-train.arff").target
    array([[1, 1],
           [1, 0]], dtype=uint8)
    """
    path = Path(path)
    arff = read_arff(path, ignore=ignore, encoding=encoding)
    xml_path = _beside(path) if labels is None else Path(labels)
    names, lines, parents = _read_labels(xml_path)
    place_of = {attribute.name: place for place, attribute in enumerate(arff.attributes)}
    for name, line in zip(names, lines, strict=True):
        if name not in place_of:
            raise malformed(xml_path, line, f"the name of an attribute of {path.name}", repr(name))
        if name in ignore:
            raise ValueError(f"ignore names {name!r}, which is a label in {xml_path.name}")
    columns = (_relevance(arff, place_of[name]) for name in names)
    target: Any
    if arff.is_sparse:
        target = sparse.csr_array(sparse.hstack([sparse.csc_array(column) for column in columns], format="csr"))
    else:
        target = np.hstack(list(columns))
    wanted = [place for name, place in place_of.items() if name not in {*names, *ignore}]
    for place in wanted:
        attribute = arff.attributes[place]
        if attribute.kind == "ranking":
            raise malformed(path, attribute.line, "numeric and nominal attributes", "a ranking; use read_xarff")
    data, feature_names = features_from_arff(arff, wanted)
    descr = arff.description(read_from(path, len(arff.lines), len(feature_names), len(names)))
    return make_bunch(data, target, feature_names, names, descr, parents=parents)


def _beside(path: Path) -> Path:
    stem = path.name.removesuffix(".gz").removesuffix(".arff")
    names = dict.fromkeys([f"{stem}.xml", re.sub(r"[-_.](train|test)\w*$", "", stem) + ".xml"])
    for name in names:
        if (path.parent / name).exists():
            return path.parent / name
    raise FileNotFoundError(f"no file {' or '.join(names)} beside {path.name} names its labels; pass labels=")


def _read_labels(path: Path) -> tuple[list[str], list[int], Any]:
    """Names, lines and parents of the <label> elements, in document order."""
    names: list[str] = []
    lines: list[int] = []
    parents: list[int] = []
    stack: list[int] = []  # of open elements; -1 is <labels>
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(tag: str, attributes: dict[str, str]) -> None:
        tag, line, name = tag.rpartition(" ")[2], parser.CurrentLineNumber, attributes.get("name")
        expected = "label" if stack else "labels"
        if tag != expected:
            raise malformed(path, line, f"the element <{expected}>", f"<{tag}>")
        if not stack:
            stack.append(-1)
            return
        if not name:
            raise malformed(path, line, '<label name="...">', "a label without a name")
        if name in names:
            raise malformed(path, line, "labels of different names", f"{name!r} again")
        parents.append(stack[-1])
        stack.append(len(names))
        names.append(name)
        lines.append(line)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: stack.pop()
    with open(path, "rb") as file:
        try:
            parser.ParseFile(file)
        except expat.ExpatError as error:
            raise malformed(path, error.lineno, "XML", expat.ErrorString(error.code)) from error
    if not names:
        raise malformed(path, parser.CurrentLineNumber, "a <label>", "none")
    return names, lines, np.array(parents, dtype=np.intp)


def _relevance(arff: Arff, place: int) -> npt.NDArray[np.uint8]:
    """The zeros and ones of a label, as a column."""
    attribute, values = arff.attributes[place], arff.column(place)
    if attribute.kind == "nominal" and set(attribute.values) <= {"0", "1"}:
        known = ~np.isnan(values)
        values[known] = np.array(attribute.values, dtype=np.float64)[values[known].astype(np.intp)]
    elif attribute.kind != "numeric":
        found = f"{{{', '.join(attribute.values)}}}" if attribute.values else attribute.kind
        raise malformed(arff.path, attribute.line, f"the values {{0, 1}} for the label {attribute.name!r}", found)
    bad = ~((values == 0) | (values == 1))
    if bad.any():
        row = int(np.argmax(bad))
        text = "?" if np.isnan(values[row]) else f"{values[row]:g}"
        raise malformed(arff.path, arff.lines[row], f"0 or 1 for the label {attribute.name!r}", text)
    return values.astype(np.uint8)[:, np.newaxis]
