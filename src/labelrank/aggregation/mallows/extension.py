"""The most probable completion of incomplete rankings."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.aggregation.mallows.checks import check_center
from labelrank.supervision import check_rankings, ranks_from_scores


def most_probable_extension(partial: Any, center: Any) -> FloatArray:
    """Complete rankings by the most probable extension under the Mallows model: the one closest to the center.

    The observed labels keep their order. Each missing label is inserted at the first place with the fewest reversed
    pairs between it and them; labels inserted at the same place keep the order of the center. No extension has a
    smaller Kendall distance to the center, so none is more probable for any theta.

    Parameters
    ----------
    partial : array-like of shape (n_labels,) or (n_samples, n_labels)
        Ranks, NaN is not observed. Tied labels stay tied and nothing is inserted between them; under this constraint
        the result is as close to the center as possible.
    center : array-like of shape (n_labels,)
        The ranks of the center, without ties.

    Returns
    -------
    ndarray of the shape of `partial`
        Complete ranks from 1.

    Examples
    --------
    >>> from labelrank.aggregation.mallows import most_probable_extension
    >>> nan = float("nan")
    >>> most_probable_extension([nan, 1, 2, nan], center=[1, 2, 3, 4])
    array([1., 2., 3., 4.])
    >>> most_probable_extension([[nan, 2, 1, nan], [1, 1, nan, nan]], center=[1, 2, 3, 4])
    array([[1., 3., 2., 4.],
           [1., 1., 3., 4.]])
    """
    from labelrank._kernels.aggregation.completion import complete_rankings

    ranks = check_center(center)
    single = np.ndim(partial) == 1
    rows = check_rankings([partial] if single else partial, ensure_min_samples=0, input_name="partial")
    if rows.shape[1] != len(ranks):
        raise ValueError(
            f"partial has {rows.shape[1]} labels and center has {len(ranks)}; they must be the same labels"
        )
    completed = np.empty_like(rows)
    complete_rankings(rows, ranks, completed)
    if len(completed):
        completed = ranks_from_scores(-completed)
    return completed[0] if single else completed
