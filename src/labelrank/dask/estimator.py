"""The mixin that makes a distributed estimator of a local class."""

from __future__ import annotations

import functools
import inspect
from typing import Any, ClassVar, Self

from distributed import Client
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from labelrank._compat import validate_parameter_constraints
from labelrank.dask.client import connected
from labelrank.dask.graphs import PartitionedGraphs
from labelrank.dask.inputs import is_partitioned
from labelrank.dask.partitions import Source
from labelrank.dask.prediction import PREDICTIONS, predict
from labelrank.rankers.checkpoint import Checkpoint


class DaskEstimatorMixin:
    """Mixin of distributed estimators; list it before the local class in the base classes.

    It provides the parameter ``client``, a ``fit`` that takes Dask collections (local data are fitted by the local
    class), and copies of the local class, by :meth:`to_local` and by pickling.

    A subclass is made of the local class and overrides what learns. ``_validate`` returns
    :class:`~labelrank.dask.partitions.Partitions` for collections::

        class MyRanker(DaskEstimatorMixin, labelrank.MyRanker):
            def _learn(self, data, progress):
                if not isinstance(data, Partitions):
                    return super()._learn(data, progress)
                ...
    """

    client: Client | None
    _local: ClassVar[Any]
    _parameter_constraints: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        of_local = (base for base in cls.__mro__ if not issubclass(base, DaskEstimatorMixin))
        local: Any = next((base for base in of_local if issubclass(base, BaseEstimator)), None)
        if local is None or "__init__" in vars(cls):  # a mixin, or a class that knows what it does
            return
        cls._local = local
        cls._parameter_constraints = {**local._parameter_constraints, "client": [Client, None]}
        own = inspect.signature(local.__init__)
        extra = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Client | None")

        def __init__(self: Any, *args: Any, client: Client | None = None, **params: Any) -> None:
            local.__init__(self, *args, **params)
            self.client = client

        __init__.__signature__ = own.replace(parameters=[*own.parameters.values(), extra])  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[method-assign]
        for name in (*PREDICTIONS, "score"):
            if name not in vars(cls) and hasattr(local, name):
                setattr(cls, name, _over_partitions(cls, local, name))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> Self:
        """Learn from the partitions of Dask collections, or from local data as the local class does.

        Parameters
        ----------
        X : Dask array or frame, path of a parquet folder, or local data
            Instances. Arrays are chunked along the rows alone, with dense or SciPy-sparse blocks.
        y : Dask array or frame, path of a parquet folder, PartitionedGraphs, or local data
            What the local class takes, partitioned as `X` is.
        sample_weight : Dask array or series, optional
            Non-negative weights of the instances, partitioned as `X` is.
        **options
            Further arguments of the local ``fit``.

        Returns
        -------
        self
        """
        if not is_partitioned(X):
            if isinstance(y, PartitionedGraphs):
                raise TypeError(
                    f"y is partitioned, and X is of type {type(X).__name__}; partition X in the same way, as a Dask "
                    "array or frame"
                )
            return super().fit(X, y, sample_weight, **options)  # type: ignore[misc]
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        validate_parameter_constraints(self._parameter_constraints, params, caller_name=type(self).__name__)
        if "checkpoint" in params:
            Checkpoint.of(self)  # a path where no file can be written is named before data are read
        with connected(self.client) as client:
            source = Source(client, X, y, sample_weight)
            return super().fit(source, y, sample_weight, **options)  # type: ignore[misc]

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> Any:
        if isinstance(X, Source):
            return X.partitions(self)
        return super()._validate(X, y, sample_weight)  # type: ignore[misc]

    def unfitted_local(self, **params: Any) -> Any:
        """An estimator of the local class with the parameters of this one, to be sent to workers."""
        own = {name: value for name, value in self.get_params(deep=False).items() if name != "client"}  # type: ignore[attr-defined]
        if "on_empty" in own:
            own["on_empty"] = "ignore"  # the client reports on all partitions together
        return self._local(**{**own, **params})

    def to_local(self) -> Any:
        """The local estimator with the same parameters and, after ``fit``, the same fitted attributes.

        Returns
        -------
        estimator
            It needs no Dask.
        """
        local = self._local.__new__(self._local)
        local.__setstate__(self.__getstate__())
        return local

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "client"}

    def __reduce__(self) -> Any:
        return object.__new__, (self._local,), self.__getstate__()  # nothing of this module, which imports Dask

    def __sklearn_clone__(self) -> Any:
        client, self.client = self.client, None  # a client cannot be copied
        try:
            twin = BaseEstimator.__sklearn_clone__(self)
        finally:
            self.client = client
        twin.client = client
        return twin


def _over_partitions(cls: type, local: Any, name: str) -> Any:
    """Method that predicts a Dask collection lazily; local data are passed to the method of the local class."""

    signature = inspect.signature(getattr(local, name))

    @available_if(lambda self: callable(getattr(super(cls, self), name)))
    @functools.wraps(getattr(local, name))
    def method(self: Any, X: Any, *args: Any, **arguments: Any) -> Any:
        if not is_partitioned(X):
            return getattr(super(cls, self), name)(X, *args, **arguments)
        if name == "score":
            raise TypeError(
                "score is for local data, and X is partitioned; score some of it, such as X.partitions[0].compute()"
            )
        bound = signature.bind(self, X, *args, **arguments).arguments
        return predict(self.to_local(), X, name, **dict(list(bound.items())[2:]))

    return method
