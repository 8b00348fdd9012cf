"""Least squares on a cluster: normal equations are sums over rows."""

from __future__ import annotations

from typing import Any

from labelrank import rankers
from labelrank.dask.estimator import DaskEstimatorMixin
from labelrank.dask.objective import PartitionedObjective
from labelrank.dask.partitions import Partitions
from labelrank.models import Objective
from labelrank.models.gram import Kernel


class KernelRidgeRanker(DaskEstimatorMixin, rankers.KernelRidgeRanker):
    """:class:`labelrank.KernelRidgeRanker` on the partitions of a Dask cluster, with a linear kernel.

    Complete rankings need one pass, in which the products of the features are summed over rows; others need one sum for
    each iteration of conjugate gradients. Other kernels compare all pairs of rows, and are for local data only; the
    features of :class:`sklearn.kernel_approximation.Nystroem` with the linear kernel take their place.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the current client or, if there is none, a local cluster for the time of ``fit``.
    **params
        Those of :class:`labelrank.KernelRidgeRanker`.
    """

    def _learn(self, data: Any, progress: Any) -> None:
        if isinstance(data, Partitions) and self.kernel != "linear":
            raise ValueError(
                f"kernel={self.kernel!r} compares all pairs of rows, which partitioned data do not support; use "
                "kernel='linear', on features of a kernel approximation such as sklearn's Nystroem"
            )
        super()._learn(data, progress)

    def _objective(self, data: Any, kernel: Kernel, alpha: float) -> Objective:
        if not isinstance(data, Partitions):
            return super()._objective(data, kernel, alpha)
        head = super()._objective(data.head(), kernel, alpha)
        return PartitionedObjective(head, data, self.unfitted_local(), kernel, 0.0)
