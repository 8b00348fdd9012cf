"""Nearest neighbors of queries in partitions."""

from __future__ import annotations

from typing import Any

from labelrank import neighbors
from labelrank._memory import require_memory
from labelrank.dask.client import results
from labelrank.dask.estimator import DaskEstimatorMixin
from labelrank.dask.partitions import Partitions
from labelrank.dask.whole import concatenated, n_bytes


class KNeighborsRanker(DaskEstimatorMixin, neighbors.KNeighborsRanker):
    """:class:`labelrank.KNeighborsRanker` with training rows and queries in the partitions of a Dask cluster.

    A fitted model contains its training rows. Therefore ``fit`` gathers them in the memory of the client, which must
    hold them twice for a short time. Predictions of Dask collections are computed where their partitions are, by a
    model that is sent to each worker once. The neighbors are those of the local class, ties included.

    Parameters
    ----------
    client : distributed.Client, optional
        Where to work; by default the current client or, if there is none, a local cluster of processes.
    **params
        Those of :class:`labelrank.KNeighborsRanker`.

    Examples
    --------
    >>> import dask.array as da
    >>> import labelrank.dask
    >>> from distributed import Client
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = (da.from_array(a, chunks=(50, -1)) for a in load_iris_rankings(return_X_y=True))
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     model = labelrank.dask.KNeighborsRanker(5, client=client).fit(X, y)
    ...     labelrank.dask.predict(model, X[:2]).compute()
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """

    def _learn(self, data: Any, progress: Any) -> None:
        if isinstance(data, Partitions):
            sizes = results(data.client, data.map(n_bytes))
            what = f"KNeighborsRanker on {data.n_samples} rows, which the model keeps,"
            require_memory(2.0 * sum(sizes), what, "fit it on a sample of the rows")
            data = concatenated(results(data.client, data.futures))
        super()._learn(data, progress)
