"""Hiding labels, for experiments with missing labels."""

from __future__ import annotations

import numbers
from typing import Any, Literal, overload

import numpy as np
from sklearn.utils import check_random_state

from labelrank._arrays import competition_ranks
from labelrank.supervision.frames import like_input
from labelrank.supervision.graphs import PreferenceGraphs, as_graphs, is_graphs


@overload
def mask_rankings(
    y: PreferenceGraphs, fraction: float, how: Literal["random", "top"] = ..., random_state: Any = ...
) -> PreferenceGraphs: ...
@overload
def mask_rankings(y: Any, fraction: float, how: Literal["random", "top"] = ..., random_state: Any = ...) -> Any: ...
def mask_rankings(y: Any, fraction: float, how: Literal["random", "top"] = "random", random_state: Any = None) -> Any:
    """Hide labels, for experiments with missing labels.

    Parameters
    ----------
    y : array-like, data frame or PreferenceGraphs of shape (n_samples, n_labels)
        Ranks or graphs. What is missing already stays missing.
    fraction : float
        Share of labels to hide, from 0 to 1.
    how : {"random", "top"}, default="random"
        ``"random"`` hides each label with probability `fraction`, independently of all others, so a row may end up with
        one label or none. ``"top"`` truncates: of the n observed labels of a row the ``round((1 - fraction) * n)`` best
        are kept (labels tied at the cut are kept together).
    random_state : int, RandomState instance or None, default=None
        For ``how="random"``.

    Returns
    -------
    ndarray, data frame or PreferenceGraphs
        A copy with NaN where a label was hidden (null in polars, absent labels in a graph). A frame gives a frame of
        the same library, with the same columns (and index).

    Examples
    --------
    >>> from labelrank import mask_rankings
    >>> mask_rankings([[1, 2, 3, 4], [4, 3, 2, 1]], 0.5, how="top")
    array([[ 1.,  2., nan, nan],
           [nan, nan,  2.,  1.]])
    """
    if not isinstance(fraction, numbers.Real) or not 0 <= fraction <= 1:
        raise ValueError(f"fraction must be between 0 and 1, got {fraction!r}")
    if how not in ("random", "top"):
        raise ValueError(f'how must be "random" or "top", got {how!r}')
    graphs = as_graphs(y)
    if how == "random":
        hidden = check_random_state(random_state).random_sample(graphs.shape) < fraction
    else:
        ranks = competition_ranks(graphs.rank_values())
        kept = np.rint((1 - fraction) * np.sum(~np.isnan(ranks), axis=1, keepdims=True))
        hidden = ranks > kept
    if is_graphs(y):
        return graphs.without_labels(hidden)
    return like_input(np.where(hidden, np.nan, graphs.rank_values()), y)
