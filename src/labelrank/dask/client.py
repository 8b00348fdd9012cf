"""The Dask client of a fit, and errors if the cluster is lost."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from typing import Any

from distributed import Client, Future, KilledWorker, LocalCluster, get_worker, wait, worker_client
from distributed.client import ClosedClientError
from distributed.comm import CommClosedError

# What distributed raises, here or inside of a task, if the scheduler or the client is lost.
_LOST = (CommClosedError, ClosedClientError, CancelledError, asyncio.CancelledError)

_PATIENCE = 30.0  # seconds to wait for results before asking whether all workers are paused


@contextmanager
def connected(client: Client | None) -> Iterator[Client]:
    """Context with a client, which raises ClusterLostError if the cluster is lost.

    Parameters
    ----------
    client : Client or None
        The client of a user. None means the cluster that this runs on as a task, otherwise the current client,
        otherwise a local cluster of as many processes as there are processors, which is closed at the end.

    Yields
    ------
    Client
    """
    with ExitStack() as stack:
        if client is None:
            client = _found(stack)
        if client.asynchronous:
            raise ValueError("client is asynchronous, and fit waits for results; pass Client(..., asynchronous=False)")
        if client.status != "running":
            raise RuntimeError(
                f"client is {client.status}, not running; pass a client that is connected to a scheduler"
            )
        address = client.scheduler.address if client.scheduler is not None else "unknown"
        try:
            with client.as_current():
                yield client
        except KilledWorker as error:
            raise ClusterLostError(
                f"workers of the Dask cluster at {address} were repeatedly killed on the same partition, probably "
                "because of too little memory; use smaller partitions, or workers with a larger memory limit"
            ) from error
        except _LOST as error:
            if isinstance(error, CancelledError | asyncio.CancelledError) and client.status == "running":
                raise ClusterLostError(
                    f"the Dask cluster at {address} does not hold data that fit needs: another client has persisted "
                    "them, or client.restart or cancel has removed them; persist them by the client of fit, and fit "
                    "again, or continue from the last iteration of a fit with checkpoint="
                ) from error
            raise ClusterLostError(
                f"lost the Dask cluster at {address} ({type(error).__name__}); connect a new client and fit "
                "again, or continue from the last iteration of a fit with checkpoint="
            ) from error


def _found(stack: ExitStack) -> Client:
    try:
        get_worker()
    except ValueError:  # this is not a task
        pass
    else:
        return stack.enter_context(worker_client())  # gives the thread of the task to others until the end
    try:
        return Client.current()
    except ValueError:  # there is none
        cluster = stack.enter_context(LocalCluster(threads_per_worker=1, dashboard_address=":0"))
        return stack.enter_context(Client(cluster))


class ClusterLostError(RuntimeError):
    """The scheduler, the connection to it, workers, or data in their memory were lost, or all workers are paused."""


def send(client: Client, value: Any) -> Future:
    """A value in the memory of workers, as an argument of tasks; it is sent again if a worker is lost."""
    return client.submit(same, value, pure=False)


def same(value: Any) -> Any:
    """A value as it is."""
    return value


def result(client: Client, future: Future) -> Any:
    """Return the result of a future; raise if all workers are paused because their memory is full."""
    return results(client, [future])[0]


def results(client: Client, futures: Sequence[Future]) -> list[Any]:
    """Return the results of futures; raise if all workers are paused because their memory is full."""
    stuck = False
    while True:
        try:
            wait(futures, timeout=_PATIENCE)
        except TimeoutError:
            n_workers, n_running = client.run_on_scheduler(_free_stranded)
            if not n_workers:
                warnings.warn("the Dask cluster has no workers; fit continues when one joins", stacklevel=2)
            was_stuck, stuck = stuck, n_workers > n_running == 0
            if was_stuck and stuck:
                raise ClusterLostError(
                    "all workers of the Dask cluster are paused because their memory is almost full, even after "
                    "spilling data to disk; use smaller partitions, or workers with a larger memory limit"
                ) from None
        else:
            return client.gather(list(futures))


def _free_stranded(dask_scheduler: Any) -> tuple[int, int]:
    """Let other workers run tasks that wait for a lost one; return the number of workers, and of those not paused.

    Dask does so itself (``allow_other_workers``), except for tasks that became ready while there was no worker at all.
    """
    if dask_scheduler.running:
        stranded = [task for task in dask_scheduler.unrunnable if task.loose_restrictions]
        for task in stranded:
            task.worker_restrictions = None
        dask_scheduler.transitions({task.key: "processing" for task in stranded}, stimulus_id="labelrank")
    return len(dask_scheduler.workers), len(dask_scheduler.running)
