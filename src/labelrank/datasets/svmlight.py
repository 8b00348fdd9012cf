"""SVMlight / LIBSVM files with several labels a line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._files import PathLike, excerpt, malformed, read_lines

_LABELS = re.compile(r"[+-]?\d+(,[+-]?\d+)*")
_FEATURE = re.compile(r"(\d+):(\S+)")


def read_svmlight_multilabel(
    path: PathLike,
    *,
    labels: Iterable[int] | None = None,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
) -> Bunch:
    r"""Read a multilabel file in the SVMlight format: ``1,5,7 3:0.5 8:1.0`` is a line with three labels.

    Parameters
    ----------
    path : str or path-like
        The file; one that ends in ``.gz`` or ``.bz2`` is unpacked.
    labels : iterable of int, optional
        All labels, in the order of the columns of ``target``; needed when a training and a test file should
        have the same columns. By default the labels that occur, sorted.
    n_features : int, optional
        The number of features; by default the largest index that occurs.
    zero_based : bool or "auto", default="auto"
        Whether feature indices start at 0 or 1; see :func:`sklearn.datasets.load_svmlight_file`.

    Returns
    -------
    Bunch
        - ``data``: csr_array of shape (n_samples, n_features);
        - ``target``: csr_array of shape (n_samples, n_labels), uint8, 1 for each label of a line. It is an
          indicator, not a rank matrix: :meth:`labelrank.PreferenceGraphs.from_multilabel` makes preferences
          of it;
        - ``feature_names``: ``x0``, ``x1``, …;
        - ``label_names``: the labels, integers;
        - ``DESCR``: where it comes from.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from labelrank.datasets import read_svmlight_multilabel
    >>> path = pathlib.Path(tempfile.mkdtemp(), "topics.svm")
    >>> _ = path.write_text("7,2 1:0.5 3:1\n2 2:1\n")
    >>> topics = read_svmlight_multilabel(path)
    >>> topics.target.toarray()
    array([[1, 1],
           [1, 0]], dtype=uint8)
    >>> topics.label_names.tolist()
    [2, 7]
    """
    from sklearn.datasets import load_svmlight_file

    try:
        X, sets = load_svmlight_file(str(path), n_features=n_features, multilabel=True, zero_based=zero_based)
        lengths = np.array([len(s) for s in sets], dtype=np.int64)
        flat = np.array([label for s in sets for label in s], dtype=np.float64)
        if (flat != np.floor(flat)).any():
            raise ValueError("a label is not an integer")
    except ValueError as error:
        _explain(path, error)
        raise ValueError(f"{Path(path).name}: {error}") from error

    columns = np.unique(flat).astype(np.int64) if labels is None else np.array(list(labels), dtype=np.int64)
    order = np.argsort(columns, kind="stable")
    ranked = columns[order]
    if len(np.unique(ranked)) < len(ranked):
        raise ValueError(f"labels names a label twice: {columns.tolist()}")
    values = flat.astype(np.int64)
    place = np.minimum(np.searchsorted(ranked, values), max(len(ranked) - 1, 0))
    known = ranked[place] == values if len(ranked) else np.zeros(len(values), dtype=bool)
    if not known.all():
        unknown = int(values[~known][0])
        line = _line_of_label(path, unknown)
        raise malformed(path, line, "one of the labels given in labels", str(unknown))
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    target = sparse.csr_array(
        (np.ones(len(values), dtype=np.uint8), order[place].astype(np.int32), indptr),
        shape=(len(sets), len(columns)),
    )
    target.sum_duplicates()
    target.data[:] = 1  # a label named twice on a line
    descr = read_from(path, X.shape[0], X.shape[1], len(columns))
    return make_bunch(sparse.csr_array(X), target, [f"x{i}" for i in range(X.shape[1])], columns.tolist(), descr)


def _content(path: PathLike) -> Iterable[tuple[int, list[str]]]:
    """(line number, tokens) of the lines that are not empty once the comment is gone."""
    if str(path).endswith(".bz2"):
        import bz2

        with bz2.open(path, "rt", encoding="latin-1") as file:
            numbered: Any = list(enumerate(file, start=1))
    else:
        numbered = read_lines(path, "latin-1")
    for number, line in numbered:
        tokens = line.partition("#")[0].split()
        if tokens:
            yield number, tokens


def _explain(path: PathLike, error: ValueError) -> None:
    """Raise for the first line that breaks the format, when there is one."""
    for number, tokens in _content(path):
        has_labels = ":" not in tokens[0]
        if has_labels and not _LABELS.fullmatch(tokens[0]):
            raise malformed(path, number, "integer labels such as 1,5,7", excerpt(tokens[0])) from error
        last = -1
        for token in tokens[has_labels:]:
            if token.startswith("qid:"):
                continue
            match = _FEATURE.fullmatch(token)
            if not match or not _is_number(match[2]):
                raise malformed(path, number, "index:value", excerpt(token)) from error
            if int(match[1]) <= last:
                raise malformed(path, number, f"an index larger than {last}", excerpt(token)) from error
            last = int(match[1])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _line_of_label(path: PathLike, label: int) -> int | None:
    for number, tokens in _content(path):
        if ":" not in tokens[0] and any(float(text) == label for text in tokens[0].split(",")):
            return number
    return None
