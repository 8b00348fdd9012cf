"""SVMlight / LIBSVM files with several labels per line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._files import PathLike, excerpt, malformed, read_lines

_LABELS = re.compile(r"[+-]?\d+(,[+-]?\d+)*")
_FEATURE = re.compile(r"(\d+):[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf|nan)", re.IGNORECASE)


def read_svmlight_multilabel(
    path: PathLike,
    *,
    labels: Iterable[int] | None = None,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
) -> Bunch:
    r"""Read a multilabel file in the SVMlight format: ``1,5,7 3:0.5 8:1.0`` is an instance with three labels.

    Parameters
    ----------
    path : str or path-like
        The file, packed if its name ends in ``.gz`` or ``.bz2``.
    labels : iterable of int, optional
        All labels, in the order of the columns of ``target``, for files that should have the same columns, such as a
        training and a test file. By default the labels that occur, sorted.
    n_features : int, optional
        Number of features; by default the largest index that occurs.
    zero_based : bool or "auto", default="auto"
        Whether feature indices start at 0 or 1; see :func:`sklearn.datasets.load_svmlight_file`.

    Returns
    -------
    Bunch
        - ``data``: csr_array of shape (n_samples, n_features);
        - ``target``: csr_array of shape (n_samples, n_labels), uint8, 1 for each relevant label. It is an indicator,
          not a rank matrix; :meth:`labelrank.PreferenceGraphs.from_multilabel` converts it to preferences;
        - ``feature_names``: ``x0``, ``x1``, …;
        - ``label_names``: the labels, integers;
        - ``DESCR``: description.

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
        flat = np.array([label for s in sets for label in s], dtype=np.float64)
        if (flat != np.floor(flat)).any():
            raise ValueError("a label is not an integer")
    except ValueError as error:
        _explain(path, error)
        raise ValueError(f"{Path(path).name}: {error}") from error

    columns = np.unique(flat).astype(np.int64).tolist() if labels is None else [int(label) for label in labels]
    place = {label: i for i, label in enumerate(columns)}
    if len(place) < len(columns):
        raise ValueError(f"labels names a label twice: {columns}")
    unknown = next((label for label in flat.tolist() if label not in place), None)
    if unknown is not None:
        raise malformed(path, _line_of_label(path, unknown), "one of the labels given in labels", f"{unknown:.0f}")
    rows = np.repeat(np.arange(len(sets)), [len(s) for s in sets])
    indices = np.array([place[label] for label in flat.tolist()], dtype=np.intp)
    ones = np.ones(len(flat), dtype=np.uint8)
    target = sparse.csr_array((ones, (rows, indices)), shape=(len(sets), len(columns)))
    target.data[:] = 1  # a label named twice on a line
    descr = read_from(path, X.shape[0], X.shape[1], len(columns))
    return make_bunch(sparse.csr_array(X), target, [f"x{i}" for i in range(X.shape[1])], columns, descr)


def _content(path: PathLike) -> Iterable[tuple[int, list[str]]]:
    """(line number, tokens) of the lines that are not empty once the comment is gone."""
    for number, line in read_lines(path, "latin-1"):
        if tokens := line.partition("#")[0].split():
            yield number, tokens


def _explain(path: PathLike, error: ValueError) -> None:
    """Raise an error for the first line that breaks the format, if there is one."""
    for number, tokens in _content(path):
        has_labels = ":" not in tokens[0]
        if has_labels and not _LABELS.fullmatch(tokens[0]):
            raise malformed(path, number, "integer labels such as 1,5,7", excerpt(tokens[0])) from error
        last = -1
        for token in tokens[has_labels:]:
            if token.startswith("qid:"):
                continue
            match = _FEATURE.fullmatch(token)
            if not match:
                raise malformed(path, number, "index:value", excerpt(token)) from error
            if int(match[1]) <= last:
                raise malformed(path, number, f"an index larger than {last}", excerpt(token)) from error
            last = int(match[1])


def _line_of_label(path: PathLike, label: float) -> int | None:
    for number, tokens in _content(path):
        if ":" not in tokens[0] and any(float(text) == label for text in tokens[0].split(",")):
            return number
    return None
