"""Work in threads that control-C ends at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs

Argument = TypeVar("Argument")
Result = TypeVar("Result")

Stop = npt.NDArray[np.uint8]  # of shape (1,); 1 asks a kernel to return
_AHEAD = 4  # arguments per thread that are being worked on, or that a thread finds when it is done
_TICK = 0.1  # seconds between two looks for control-C where a wait cannot be interrupted


def in_threads(
    work: Callable[[Argument, Stop], Result], arguments: Iterable[Argument], n_jobs: int | None = None
) -> Iterator[Result]:
    """Yield ``work(argument, stop)`` for each argument, in their order.

    Python answers control-C between two instructions of its main thread, but not during a call of a kernel. So kernels
    run in other threads, also a single one, and return early, with whatever they have, once ``stop[0]`` is set. That is
    done on control-C, and when the caller does not want further results.

    Parameters
    ----------
    work : callable
        Passes `stop` on to a kernel, which looks at it at least every tenth of a second, in a loop that writes to some
        array: of a loop that does not, the compiler knows that nothing changes.
    arguments : iterable
        What `work` is called with.
    n_jobs : int, optional
        Number of threads, as in joblib.

    Examples
    --------
    >>> from labelrank._threads import in_threads
    >>> list(in_threads(lambda number, stop: number**2, range(4), n_jobs=2))
    [0, 1, 4, 9]
    """
    stop, n_threads = np.zeros(1, dtype=np.uint8), effective_n_jobs(n_jobs)
    pool, waiting = ThreadPoolExecutor(n_threads), iter(arguments)
    futures: deque[Future[Result]] = deque()
    try:
        while True:
            for argument in islice(waiting, _AHEAD * n_threads - len(futures)):
                futures.append(pool.submit(work, argument, stop))
            if not futures:
                return
            while not futures[0].done():
                wait([futures[0]], timeout=_TICK)
            yield futures.popleft().result()
    finally:
        stop[0] = 1
        pool.shutdown(cancel_futures=True)
