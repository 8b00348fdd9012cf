"""Build rows from the columns of several rows, to permute features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.supervision.frames import frame_of


def row_mixer(X: Any) -> Callable[[npt.NDArray[np.intp]], Any]:
    """Return a function that builds rows from the columns of rows of `X`.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Rows to take from. Sparse matrices become dense.

    Returns
    -------
    callable
        Takes an array of shape (n_rows, n_features) of row numbers, and returns rows like those of `X` in which column
        j is that of the row in column j of the array.

    Examples
    --------
    >>> from labelrank.trust.mixing import row_mixer
    >>> import numpy as np
    >>> row_mixer([[1, 2], [3, 4]])(np.array([[0, 1], [1, 1]]))
    array([[1, 4],
           [3, 4]])
    """
    frame = frame_of(X)
    if frame is not None:

        def mixed(rows: npt.NDArray[np.intp]) -> Any:
            usual = rows[:, 0] if np.mean(rows == rows[:, :1]) > 0.5 else rows[:, -1]  # one column is often permuted
            differing = np.flatnonzero((rows != usual[:, np.newaxis]).any(axis=0)).tolist()
            columns = [frame.get_column(frame.columns[j])[rows[:, j].tolist()] for j in differing]
            return frame[usual.tolist()].with_columns(*columns).to_native()

        return mixed
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return lambda rows: dense[rows, np.arange(dense.shape[1])]
