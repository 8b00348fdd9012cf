"""Work in threads that control-C stops at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import count, islice
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from joblib.parallel import get_active_backend

Argument = TypeVar("Argument")
Result = TypeVar("Result")

Stop = npt.NDArray[np.uint8]  # of shape (1,); 1 asks a kernel to return
_AHEAD = 4  # arguments per thread that are submitted, in work or waiting
_TICK = 0.1  # seconds between two checks for control-C where a wait cannot be interrupted


def n_threads(n_jobs: int | None) -> int:
    """Number of threads for `n_jobs`; ignores joblib backends of processes or of a cluster.

    Examples
    --------
    >>> from labelrank._threads import n_threads
    >>> n_threads(None), n_threads(2)
    (1, 2)
    """
    backend, default = get_active_backend(require="sharedmem")
    return int(backend.effective_n_jobs(default if n_jobs is None else n_jobs))


def in_threads(
    work: Callable[[Argument, Stop], Result], arguments: Iterable[Argument], n_jobs: int | None = None
) -> Iterator[Result]:
    """Yield ``work(argument, stop)`` for each argument, in their order.

    Python handles control-C between two instructions of its main thread, but not during a call of a kernel. So kernels
    run in other threads, even if there is only one, and return early, with what they have, once ``stop[0]`` is set.
    That happens on control-C, and if the caller does not want further results.

    Parameters
    ----------
    work : callable
        Passes `stop` to a kernel, which must read it at least every tenth of a second, in a loop that writes to some
        array; otherwise the compiler may read it only once.
    arguments : iterable
        Arguments of `work`.
    n_jobs : int, optional
        Number of threads, as in joblib.

    Examples
    --------
    >>> from labelrank._threads import in_threads
    >>> list(in_threads(lambda number, stop: number**2, range(4), n_jobs=2))
    [0, 1, 4, 9]
    """
    # ThreadPoolExecutor is not safe: control-C while the main thread acquires the lock of a future can leave it locked,
    # and a worker waits for it forever. Operations of a SimpleQueue are atomic.
    stop, number = np.zeros(1, dtype=np.uint8), n_threads(n_jobs)
    todo: SimpleQueue[Any] = SimpleQueue()
    done: SimpleQueue[Any] = SimpleQueue()

    def run() -> None:
        for i, argument in iter(todo.get, None):
            if stop[0]:
                return
            try:
                done.put((i, work(argument, stop), None))
            except BaseException as error:
                done.put((i, None, error))

    threads: list[Thread] = []

    def results() -> Iterator[Result]:
        waiting, found, n_submitted = enumerate(arguments), {}, 0
        for i in count():
            for item in islice(waiting, i + _AHEAD * number - n_submitted):
                todo.put(item)
                n_submitted += 1
                if len(threads) < number:
                    threads.append(Thread(target=run, daemon=True))
                    threads[-1].start()
            if i == n_submitted:
                return
            while i not in found:
                with suppress(Empty):
                    j, *found[j] = done.get(timeout=_TICK)
            result, error = found.pop(i)
            if error is not None:
                raise error
            yield result

    try:
        # Not the loop itself: Python 3.13 skips `finally` if control-C comes at the jump at the end of a loop.
        yield from results()
    finally:
        stop[0] = 1
        for _ in threads:
            todo.put(None)
        for thread in threads:
            if thread.is_alive():
                thread.join()
