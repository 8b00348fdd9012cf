"""Assignment of partitions to the threads of workers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from distributed import Client, Future

_BATCH = 2**26  # bytes of the partitions that a task needs in memory together, about


def lanes(
    client: Client, futures: Sequence[Future], n_bytes: Sequence[int], threads: dict[str, int]
) -> list[tuple[list[str], list[list[Future]]]]:
    """Batches of partitions for each thread of the workers, with the address of the worker in a list.

    Partitions stay where they are, except that a worker with less to do than others, such as a new one, takes some.

    Parameters
    ----------
    client : Client
        The client.
    futures : sequence of Future
        The partitions.
    n_bytes : sequence of int
        Their sizes.
    threads : dict
        Number of threads of each worker, at least one worker.

    Returns
    -------
    list of tuple ([address], batches)
    """
    holders = client.who_has(list(futures))
    load = dict.fromkeys(threads, 0.0)  # bytes for a thread
    held: dict[str, list[int]] = {worker: [] for worker in threads}
    for i, future in enumerate(futures):
        worker = min([w for w in holders[future.key] if w in load] or load, key=load.__getitem__)
        held[worker].append(i)
        load[worker] += n_bytes[i] / threads[worker]
    while True:
        most, least = max(load, key=load.__getitem__), min(load, key=load.__getitem__)
        some = (i for i in held[most] if load[least] + n_bytes[i] / threads[least] < load[most])
        if (moved := next(some, None)) is None:
            break
        held[most].remove(moved)
        held[least].append(moved)
        load[most] -= n_bytes[moved] / threads[most]
        load[least] += n_bytes[moved] / threads[least]
    found: list[tuple[list[str], list[list[Future]]]] = []
    for worker, parts in held.items():
        for lane in (parts[first :: threads[worker]] for first in range(min(threads[worker], len(parts)))):
            number = np.cumsum([n_bytes[i] for i in lane]) // _BATCH
            batches = np.split(lane, np.flatnonzero(np.diff(number)) + 1)
            found.append(([worker], [[futures[i] for i in batch] for batch in batches]))
    return found
