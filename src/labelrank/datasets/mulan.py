"""Mulan data sets: an ARFF file, and an XML file that names the labels."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, cast
from xml.parsers import expat

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import Bunch

from labelrank.datasets._arff import Arff, read_arff
from labelrank.datasets._arff_features import features_from_arff
from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._files import MAX_BYTES, DataFile, PathLike, excerpt, listing, malformed, repeated

_COUNT = re.compile(r"(?:^|[\s:])-C\s+(-?)(\d{1,9})\b")  # the option of MEKA in the name of a relation
Labels = tuple[list[str], Any]  # names, and the place of the parent of each or -1


def read_mulan(
    path: PathLike,
    labels: PathLike | Sequence[str] | None = None,
    *,
    ignore: Sequence[str] = (),
    encoding: str = "utf-8",
    as_frame: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Bunch:
    """Read a multilabel data set in the format of Mulan or MEKA: ARFF, dense or sparse, and for Mulan XML.

    Parameters
    ----------
    path : str or path-like
        The ARFF file, packed if its name ends in ``.gz`` or ``.bz2``.
    labels : str, path-like or list of str, optional
        The XML file that names the labels, or their names. By default the file of the same name in the same folder, if
        necessary without ``-train`` or ``-test``: ``yeast.xml`` for ``yeast-train.arff``. Without such a file the
        relation has the number of labels, as in files of MEKA: with ``@relation 'Yeast: -C 14'`` they are the first 14
        attributes, with ``-C -14`` the last.
    ignore : sequence of str, default=()
        Attributes that are not features. String and date attributes must be listed here.
    encoding : str, default="utf-8"
        Encoding of the ARFF file. A byte order mark is ignored.
    as_frame : bool, default=False
        Return ``data`` and ``target`` as data frames, see :func:`read_csv`; sparse matrices become dense.
    max_bytes : int, default=2**30
        Limit of the unpacked file and of each matrix that is made of it.

    Returns
    -------
    Bunch
        - ``data``: ndarray of shape (n_samples, n_features), csr_array for a sparse file; columns as in
          :func:`read_xarff`;
        - ``target``: ndarray of shape (n_samples, n_labels), uint8, csr_array for a sparse file: 1 for each relevant
          label. It is an indicator, not a rank matrix; :meth:`labelrank.PreferenceGraphs.from_multilabel` converts it
          to preferences;
        - ``feature_names``: names of the features;
        - ``label_names``: names of the labels, in the order of the XML file or the list;
        - ``DESCR``: the comments at the top of the file, and a description;
        - ``parents``: ndarray of shape (n_labels,), the parent of each label where the XML file nests them, else -1.

    References
    ----------
    G. Tsoumakas et al. Mulan: a Java library for multi-label learning. JMLR 12, 2011.

    J. Read et al. MEKA: a multi-label/multi-target extension to WEKA. JMLR 17, 2016.

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
    with DataFile(path, encoding=encoding, max_bytes=max_bytes) as file:
        arff = read_arff(file, ignore=ignore)
        names, parents = _labels(arff, labels)
        if both := set(names).intersection(ignore):
            raise ValueError(f"ignore names {min(both)!r}, which is a label")
        target = _indicator(arff, [arff.places[name] for name in names])
        left_out = {*names, *ignore}
        wanted = [place for name, place in arff.places.items() if name not in left_out]
        for place in wanted:
            attribute = arff.attributes[place]
            if attribute.kind == "ranking":
                raise malformed(file, attribute.line, "numeric and nominal attributes", "a ranking; use read_xarff")
        data, feature_names = features_from_arff(arff, wanted)
        descr = arff.description(read_from(file, len(arff.lines), len(feature_names), len(names)))
        return make_bunch(data, target, feature_names, names, descr, as_frame=as_frame, file=file, parents=parents)


def _labels(arff: Arff, labels: PathLike | Sequence[str] | None) -> Labels:
    """The labels of an XML file, of a list, or those that the relation counts."""
    file, known = arff.file, arff.places
    names: list[str]
    if labels is None and (beside := _beside(file.path)) is None:
        names = _counted_labels(arff)
    elif labels is None or isinstance(labels, (str, os.PathLike)):
        with DataFile(cast(PathLike, beside if labels is None else labels), max_bytes=file.max_bytes) as xml:
            return _read_labels(xml, file.path.name, known)
    else:
        names = list(labels)
        if unknown := [name for name in names if name not in known]:
            raise ValueError(f"labels names {unknown[0]!r}, which is not an attribute of the file: {listing(known)}")
        if twice := repeated(names):
            raise ValueError(f"labels names {twice[0]!r} twice")
        if not names:
            raise ValueError("labels is empty; at least one label is needed")
    return names, np.full(len(names), -1, dtype=np.intp)


def _beside(path: Path) -> Path | None:
    stem = re.sub(r"(\.arff)?(\.gz|\.bz2)?$", "", path.name)
    names = (f"{stem}.xml", re.sub(r"[-_.](train|test)\w*$", "", stem) + ".xml")
    return next((path.parent / name for name in names if (path.parent / name).exists()), None)


def _counted_labels(arff: Arff) -> list[str]:
    names = list(arff.places)
    count = _COUNT.search(arff.relation)
    if count is None:
        expected = "an XML file of the same name beside it that names the labels, or -C with their number in @relation"
        raise malformed(arff.file, None, expected, "neither; pass labels=, an XML file or a list of names")
    n_labels = int(count[2])
    if not 0 < n_labels <= len(names):
        raise malformed(arff.file, None, f"a number of labels from 1 to {len(names)} after -C", excerpt(arff.relation))
    return names[-n_labels:] if count[1] else names[:n_labels]


def _read_labels(xml: DataFile, arff_name: str, known: Collection[str]) -> Labels:
    """Names and parents of the <label> elements, in document order."""
    place_of: dict[str, int] = {}
    parents: list[int] = []
    stack: list[int] = []  # of open elements; -1 is <labels>
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(tag: str, attributes: dict[str, str]) -> None:
        xml.line = line = parser.CurrentLineNumber
        tag, name = tag.rpartition(" ")[2], attributes.get("name")
        expected = "label" if stack else "labels"
        if tag != expected:
            raise malformed(xml, line, f"the element <{expected}>", excerpt(f"<{tag}>"))
        if not stack:
            stack.append(-1)
            return
        if not name:
            raise malformed(xml, line, '<label name="...">', "a label without a name")
        if name in place_of:
            raise malformed(xml, line, "labels of different names", f"{excerpt(name)} again")
        if name not in known:
            raise malformed(xml, line, f"the name of an attribute of {arff_name}", excerpt(name))
        parents.append(stack[-1])
        stack.append(len(place_of))
        place_of[name] = len(place_of)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: stack.pop()
    with xml.open() as content:
        try:
            parser.ParseFile(content)
        except expat.ExpatError as error:
            raise malformed(xml, error.lineno, "XML", expat.ErrorString(error.code)) from error
    if not place_of:
        raise malformed(xml, parser.CurrentLineNumber, "a <label>", "none")
    return list(place_of), np.array(parents, dtype=np.intp)


def _indicator(arff: Arff, places: Sequence[int]) -> Any:
    """The zeros and ones of the labels, sparse as the file is."""
    relevant = [np.flatnonzero(_relevance(arff, place)) for place in places]
    rows = np.concatenate(relevant)
    columns = np.repeat(np.arange(len(places)), [len(found) for found in relevant])
    shape = (len(arff.lines), len(places))
    if arff.is_sparse:
        return sparse.csr_array((np.ones(len(rows), dtype=np.uint8), (rows, columns)), shape=shape)
    target = np.zeros(shape, dtype=np.uint8)
    target[rows, columns] = 1
    return target


def _relevance(arff: Arff, place: int) -> npt.NDArray[np.float64]:
    """The zeros and ones of a label."""
    attribute, values = arff.attributes[place], arff.column(place)
    if attribute.kind == "nominal" and set(attribute.values) <= {"0", "1"}:
        known = ~np.isnan(values)
        values[known] = np.array(attribute.values, dtype=np.float64)[values[known].astype(np.intp)]
    elif attribute.kind != "numeric":
        found = listing(attribute.values) if attribute.values else attribute.kind
        raise malformed(arff.file, attribute.line, f"the values {{0, 1}} for the label {attribute.name!r}", found)
    bad = ~((values == 0) | (values == 1))
    if bad.any():
        row = int(np.argmax(bad))
        text = "?" if np.isnan(values[row]) else f"{values[row]:g}"
        raise malformed(arff.file, arff.lines[row], f"0 or 1 for the label {attribute.name!r}", text)
    return values
