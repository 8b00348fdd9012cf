r"""What it costs to take the label that a prediction ranks first: runtimes of solvers, errors of models, prices.

Costs are a matrix with a number for each instance and label, smaller is better, so that they serve as `y` of a ranker
as they are: only their order within a row counts. With a `cutoff` C, runs of cost C or more, and runs without a result
(NaN), cost :math:`\text{penalty} \cdot C`: the penalized average runtime, PAR10.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from labelrank._arrays import FloatArray
from labelrank.metrics.inputs import Average, mean_of, predicted_ranks
from labelrank.supervision import is_graphs, label_names, stacklevel_of_user
from labelrank.supervision.labels import label_columns
from labelrank.supervision.matrices import SCORES, float_matrix
from labelrank.supervision.vectors import is_integer, object_array

_COSTS = replace(
    SCORES,
    ragged="give every label of a row a cost",
    text="costs are numbers, smaller is better",
    sparse="pass {name}.toarray() if entries that are not stored have cost 0",
    masked="pass {name}.filled(np.nan) and the cutoff of the runs",
    infinite="for runs without a result pass NaN, and the cutoff",
)


def mean_cost(
    costs: Any,
    y_pred: Any,
    *,
    cutoff: float | None = None,
    penalty: float = 10.0,
    sample_weight: Any = None,
    average: Average = "mean",
) -> Any:
    """Mean cost of the label that the prediction ranks first; with a `cutoff` of runtimes, PAR10.

    Parameters
    ----------
    costs : array-like or data frame of shape (n_samples, n_labels)
        The cost of each label, smaller is better. NaN, a run without a result, needs a `cutoff`.
    y_pred : rank matrix of shape (n_samples, n_labels)
        Predicted ranks. Where several labels are tied for the first place, the mean of their costs counts.
    cutoff : float, optional
        The time after which runs were stopped: costs of `cutoff` or more and NaN count ``penalty * cutoff``.
    penalty : float, default=10.0
        How many times the cutoff an unsolved instance counts; at least 1.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the instances.
    average : {"mean", None}, default="mean"
        None returns the value of each instance, NaN where it has none.

    Returns
    -------
    float, or ndarray of shape (n_samples,) with ``average=None``

    Examples
    --------
    >>> from labelrank.metrics import mean_cost
    >>> runtimes = [[2.0, 30.0], [float("nan"), 5.0]]
    >>> mean_cost(runtimes, [[1, 2], [2, 1]], cutoff=60), mean_cost(runtimes, [[1, 2], [1, 2]], cutoff=60)
    (3.5, 301.0)
    """
    of = _costs(costs, y_pred, cutoff, penalty)
    return _mean(of.chosen, sample_weight, average, "mean_cost")


def regret(
    costs: Any,
    y_pred: Any,
    *,
    cutoff: float | None = None,
    penalty: float = 10.0,
    sample_weight: Any = None,
    average: Average = "mean",
) -> Any:
    """Mean of the cost of the label that the prediction ranks first less that of the best label of the instance.

    Takes the arguments of :func:`mean_cost`.

    Examples
    --------
    >>> from labelrank.metrics import regret
    >>> regret([[2.0, 30.0], [9.0, 5.0]], [[1, 2], [1, 2]])
    2.0
    """
    of = _costs(costs, y_pred, cutoff, penalty)
    return _mean(of.chosen - of.costs.min(axis=1, initial=np.inf), sample_weight, average, "regret")


def closed_gap(
    costs: Any,
    y_pred: Any,
    *,
    cutoff: float | None = None,
    penalty: float = 10.0,
    single_best: Any = None,
    sample_weight: Any = None,
) -> float:
    r"""Share of the gap between the single best label and the best label of each instance that a prediction closes.

    .. math:: \frac{\bar c(\text{single best}) - \bar c(\text{predicted})}
                   {\bar c(\text{single best}) - \bar c(\text{virtual best})}

    with mean costs :math:`\bar c`: 1 is the virtual best (for each instance the label of least cost), 0 no better than
    always taking the single best label, negative worse.

    Parameters
    ----------
    costs, y_pred, cutoff, penalty, sample_weight
        As in :func:`mean_cost`.
    single_best : label, optional
        Name of the single best label (its column if `costs` has no names), chosen on training data. By default the
        label with the lowest mean cost on the given instances, a lower bound for the cost of any constant choice.

    Returns
    -------
    float
        At most 1; NaN with a warning where one label is the best of all instances, so that there is no gap.

    Examples
    --------
    >>> from labelrank.metrics import closed_gap
    >>> runtimes = [[2.0, 30.0], [9.0, 5.0], [3.0, 1.0]]
    >>> closed_gap(runtimes, [[1, 2], [1, 2], [2, 1]])  # (14/3 - 12/3) / (14/3 - 8/3)
    0.333...
    """
    of = _costs(costs, y_pred, cutoff, penalty)
    predicted = _mean(of.chosen, sample_weight, "mean", "closed_gap")
    if np.isnan(predicted):
        return predicted
    columns = np.ascontiguousarray(of.costs.T)
    if single_best is not None:
        columns = columns[[_column(single_best, costs, len(columns))]]
    single = min(_mean(column, sample_weight, "mean", "closed_gap") for column in columns)
    virtual = _mean(of.costs.min(axis=1), sample_weight, "mean", "closed_gap")
    gap = single - virtual
    if not gap > 0:
        warnings.warn(
            "closed_gap is undefined: the single best label is the best of every instance",
            UndefinedMetricWarning,
            stacklevel=stacklevel_of_user(),
        )
        return float("nan")
    return float((single - predicted) / gap)


class _Costs(NamedTuple):
    costs: FloatArray  # of shape (n_samples, n_labels)
    chosen: FloatArray  # of shape (n_samples,), of the label that is ranked first


def _costs(costs: Any, y_pred: Any, cutoff: Any, penalty: Any) -> _Costs:
    if is_graphs(costs):
        raise TypeError("costs must be a matrix of numbers, got PreferenceGraphs, which only have the order of labels")
    matrix = float_matrix(costs, "costs", "costs", _COSTS)
    missing = np.isnan(matrix)
    if not matrix.shape[1]:
        raise ValueError(f"costs has no labels (shape={matrix.shape}); at least one is needed")
    if cutoff is not None:
        if not _is_finite(cutoff) or cutoff <= 0:
            raise ValueError(
                f"cutoff must be a number above 0, got {cutoff!r}; pass cutoff=None if runs were not cut off"
            )
        if not _is_finite(penalty) or penalty < 1:
            raise ValueError(f"penalty must be a number of at least 1, got {penalty!r}")
        if (matrix < 0).any():
            row, column = np.argwhere(matrix < 0)[0]
            raise ValueError(
                f"costs contains {matrix[row, column]:g} at row {row}, column {column}; with a cutoff, costs must be "
                "≥ 0. If negative values mark runs without a result, replace them by NaN"
            )
        matrix = np.where(missing | (matrix >= cutoff), penalty * cutoff, matrix)
    elif missing.any():
        row, column = np.argwhere(missing)[0]
        raise ValueError(
            f"costs contains NaN, first at row {row}, column {column}; pass the cutoff of the runs, for which a run "
            "without a result counts penalty * cutoff, or drop such rows"
        )
    ranks = predicted_ranks(y_pred, label_names(costs), matrix.shape, "costs")
    first = ranks == ranks.min(axis=1, keepdims=True, initial=np.inf)
    chosen = np.where(first, matrix, 0.0).sum(axis=1) / np.maximum(first.sum(axis=1), 1)
    return _Costs(matrix, chosen)


def _is_finite(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))


def _mean(values: FloatArray, sample_weight: Any, average: Average, name: str) -> Any:
    return mean_of(values, np.ones(len(values), dtype=bool), sample_weight, average, name)


def _column(single_best: Any, costs: Any, n_labels: int) -> int:
    names = label_names(costs)
    if names is None and not is_integer(single_best):
        raise ValueError(
            f"single_best is {single_best!r}, but costs has no names of labels; pass the number of a column"
        )
    (column,), _, _ = label_columns(object_array([single_best]), names, n_labels, "single_best")
    return int(column)
