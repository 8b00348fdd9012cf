"""Learners of linear scores on a cluster: the objective is a sum over partitions."""

from __future__ import annotations

from typing import Any, ClassVar

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import delayed

from labelrank import rankers
from labelrank.dask.client import results
from labelrank.dask.estimator import DaskEstimatorMixin
from labelrank.dask.graphs import PartitionedGraphs
from labelrank.dask.inputs import blocks_of
from labelrank.dask.objective import PartitionedObjective
from labelrank.dask.partitions import Partitions, Source
from labelrank.models import Objective
from labelrank.rankers.relevant_sets import check_classes, relevant_class, two_classes
from labelrank.solvers import Solver
from labelrank.solvers.boosting.templates import largest_values


class _PartitionedMinimizer(DaskEstimatorMixin):
    """Learners that minimize an objective, which is a sum over rows."""

    # What processes rows one by one, and what to use instead.
    _by_rows: ClassVar[tuple[str, str]] = (
        'solver="soft_projection"',
        'solver="lbfgs" or, if the loss has flows, "boosting"',
    )

    def _objective(self, data: Any) -> Objective:
        if not isinstance(data, Partitions):
            return super()._objective(data)  # type: ignore[misc]
        head: Objective = super()._objective(data.head())  # type: ignore[misc]
        return PartitionedObjective(head, data, self.unfitted_local())

    def _minimize(self, objective: Objective, solver: Solver, progress: Any) -> Any:
        if isinstance(objective, PartitionedObjective) and solver.by_rows:
            raise ValueError(
                f"{self._by_rows[0]} processes rows one by one, which partitioned data do not support; use "
                + self._by_rows[1]
            )
        return super()._minimize(objective, solver, progress)  # type: ignore[misc]


class LogLinearRanker(_PartitionedMinimizer, rankers.LogLinearRanker):
    """:class:`labelrank.LogLinearRanker` on the partitions of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the current client or, if there is none, a local cluster for the time of ``fit``.
    **params
        Those of :class:`labelrank.LogLinearRanker`; `n_jobs` is not used, as each worker does its partitions.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> import labelrank.dask
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> rows, ranks = (da.from_array(part, chunks=(50, -1)) for part in (X, y))
    >>> with Client(processes=False, dashboard_address=":0") as client:  # in this process, for this example
    ...     model = labelrank.dask.LogLinearRanker(client=client).fit(rows, ranks)
    >>> model.to_local().score(X, y) > 0.9
    True
    """


class GraphRanker(_PartitionedMinimizer, rankers.GraphRanker):
    """:class:`labelrank.GraphRanker` on the partitions of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the current client or, if there is none, a local cluster for the time of ``fit``.
    **params
        Those of :class:`labelrank.GraphRanker`; `n_jobs` is not used, as each worker does its partitions. The solver
        ``"soft_projection"`` processes rows one by one and is for local data only.
    """


class LabelCoveringClassifier(_PartitionedMinimizer, rankers.LabelCoveringClassifier):
    """:class:`labelrank.LabelCoveringClassifier` on the partitions of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the current client or, if there is none, a local cluster for the time of ``fit``.
    **params
        Those of :class:`labelrank.LabelCoveringClassifier`; `n_jobs` is not used, as each worker does its partitions.
        ``templates="sequential"`` is for local data only.
    """

    _by_rows = ('templates="sequential"', 'templates="parallel"')

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> Any:
        if not (isinstance(X, Source) and _is_vector(X.y)):
            return super()._validate(X, y, sample_weight)
        # A partition may have one of the two classes only.
        blocks = blocks_of(X.y, "y")
        found = results(X.client, X.client.compute([delayed(_classes)(part) for part in blocks.parts]))
        classes = two_classes(np.unique(np.concatenate(found)))
        graphs = PartitionedGraphs(delayed(_relevant)(part, classes) for part in blocks.parts)
        graphs.sizes = blocks.sizes
        X.y = graphs
        return X.partitions(self, classes_=classes, outputs_2d_=False)

    def _largest_values(self, objective: Any) -> Any:
        if not isinstance(objective, PartitionedObjective):
            return super()._largest_values(objective)
        d = objective.coef_shape[0]
        return objective.reduce(_largest_values, np.maximum, np.ones(d))


def _is_vector(y: Any) -> bool:
    return isinstance(y, dd.Series) or (isinstance(y, da.Array) and y.ndim == 1)


# --- On workers


def _classes(y: Any) -> Any:
    return check_classes(y)[1] if len(y) else np.asarray(y)


def _relevant(y: Any, classes: Any) -> Any:
    return relevant_class(np.asarray(y), classes)


def _largest_values(part: Objective) -> Any:
    model: Any = part.model
    return largest_values(model.X, model.fit_intercept, part.loss.counted)
