"""SVMlight / LIBSVM files with several labels per line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._files import MAX_BYTES, DataFile, DataFileError, PathLike, excerpt, malformed, repeated

_LARGEST = 2**53  # below labels, which are read as floats, are exact; far beyond any index of a feature
_INDICES = 2**31 - 1  # of the parser
_LABELS = re.compile(r"[+-]?\d+(,[+-]?\d+)*")
_FEATURE = re.compile(r"(\d+):[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf|nan)", re.IGNORECASE)


def read_svmlight_multilabel(
    path: PathLike,
    *,
    labels: Iterable[int] | None = None,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    as_frame: bool = False,
    max_bytes: int = MAX_BYTES,
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
    as_frame : bool, default=False
        Return ``data`` and ``target`` as data frames, see :func:`read_csv`; the sparse matrices become dense.
    max_bytes : int, default=2**30
        Limit of the unpacked file and of each matrix that is made of it.

    Returns
    -------
    Bunch
        - ``data``: csr_array of shape (n_samples, n_features);
        - ``target``: csr_array of shape (n_samples, n_labels), uint8, 1 for each relevant label. It is an indicator,
          not a rank matrix; :meth:`labelrank.PreferenceGraphs.from_multilabel` converts it to preferences;
        - ``feature_names``: ``x0``, ``x1``, …, a sequence that makes each name when it is asked for;
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
    with DataFile(path, encoding="latin-1", max_bytes=max_bytes) as file:
        X, sets = _load(file, n_features, zero_based)
        flat = [int(label) for found in sets for label in found]
        columns = sorted(set(flat)) if labels is None else [int(label) for label in labels]
        place = {label: i for i, label in enumerate(columns)}
        if twice := repeated(columns):
            raise ValueError(f"labels names the label {twice[0]} twice")
        if unknown := [label for label in flat if label not in place]:
            raise malformed(
                file, _line_of_label(file, unknown[0]), "one of the labels given in labels", f"{unknown[0]}"
            )
        rows = np.repeat(np.arange(len(sets)), [len(found) for found in sets])
        indices = np.array([place[label] for label in flat], dtype=np.intp)
        ones = np.ones(len(flat), dtype=np.uint8)
        target = sparse.csr_array((ones, (rows, indices)), shape=(len(sets), len(columns)))
        target.data[:] = 1  # a label named twice on a line
        descr = read_from(file, X.shape[0], X.shape[1], len(columns))
        names = NumberedNames(X.shape[1])
        return make_bunch(sparse.csr_array(X), target, names, columns, descr, as_frame=as_frame, file=file)


class NumberedNames(Sequence[str]):
    """``x0``, ``x1``, …: a file of one line may have a feature of number 2³¹."""

    def __init__(self, size: int) -> None:
        self._numbers = range(size)

    def __len__(self) -> int:
        return len(self._numbers)

    def __repr__(self) -> str:
        return f"NumberedNames({len(self)})"

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        found = self._numbers[index]
        return f"x{found}" if isinstance(found, int) else [f"x{number}" for number in found]


def _load(file: DataFile, n_features: int | None, zero_based: bool | Literal["auto"]) -> tuple[Any, Any]:
    """The matrix and the labels of each line, which are checked to be integers."""
    from sklearn.datasets import load_svmlight_file

    try:
        with file.open() as content:
            X, sets = load_svmlight_file(content, n_features=n_features, multilabel=True, zero_based=zero_based)
        flat = np.array([label for found in sets for label in found], dtype=np.float64)
        if not (np.abs(flat) < _LARGEST).all() or (flat != np.floor(flat)).any():
            raise ValueError("a label is not an integer")
    except (ValueError, OverflowError) as error:
        if not isinstance(error, DataFileError):
            explain_svmlight(file, error)
        raise
    return X, sets


def _content(file: DataFile) -> Iterator[tuple[int, list[str]]]:
    """(line number, tokens) of the lines that are not empty once the comment is gone."""
    for number, line in file.lines():
        if tokens := line.partition("#")[0].split():
            yield number, tokens


def explain_svmlight(file: DataFile, error: Exception) -> None:
    """Raise an error for the first line that breaks the format, if there is one."""
    for number, tokens in _content(file):
        has_labels = ":" not in tokens[0]
        if has_labels and not (
            _LABELS.fullmatch(tokens[0]) and all(abs(float(label)) < _LARGEST for label in tokens[0].split(","))
        ):
            raise malformed(file, number, "integer labels such as 1,5,7, below 2**53", excerpt(tokens[0])) from error
        last = -1
        for token in tokens[has_labels:]:
            if token.startswith("qid:"):
                continue
            match = _FEATURE.fullmatch(token)
            if not match:
                raise malformed(file, number, "index:value", excerpt(token)) from error
            index = file.integer(number, match[1], "the index of a feature")
            if not last < index < _INDICES:
                expected = f"an index larger than {last} and below {_INDICES}"
                raise malformed(file, number, expected, excerpt(token)) from error
            last = index


def _line_of_label(file: DataFile, label: int) -> int | None:
    for number, tokens in _content(file):
        if ":" not in tokens[0] and any(float(text) == label for text in tokens[0].split(",")):
            return number
    return None
