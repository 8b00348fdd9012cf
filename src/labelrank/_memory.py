"""Available memory, and errors before more would be needed."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_SMALL = 2**27  # bytes; smaller requests are not checked
_CGROUPS = {  # controllers: folder; limit, usage, and the part of the usage that is a reclaimable cache
    "": ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    "memory": ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def require_memory(n_bytes: float, what: str, instead: str) -> None:
    """Raise MemoryError if more than the available memory would be needed.

    Parameters
    ----------
    n_bytes : float
        Lower bound of the memory needed.
    what : str
        What needs it, with its size.
    instead : str
        Advice for the user.

    Examples
    --------
    >>> from labelrank._memory import require_memory
    >>> require_memory(1e18, "a billion squared", "use less")
    Traceback (most recent call last):
        ...
    MemoryError: a billion squared needs 888 PiB of memory, but only ... is available; use less
    """
    if n_bytes >= _SMALL and n_bytes > (free := available_memory()):
        raise MemoryError(
            f"{what} needs {size_text(n_bytes)} of memory, but only {size_text(free)} is available; {instead}"
        )


def require_pair_matrices(shape: tuple[int, ...], what: str = "pairwise_proba", copies: int = 1) -> None:
    """Raise MemoryError if `copies` of a matrix of all pairs of labels for each instance do not fit into memory.

    `shape` is that of the scores, (n_instances, n_labels).
    """
    n, n_labels = shape
    require_memory(
        8.0 * copies * n * n_labels**2,
        f"{what} of {n} instances and the pairs of {n_labels} labels",
        "use fewer rows at a time, or decision_function and predict, which are linear in the labels",
    )


def available_memory() -> float:
    """Bytes that this process may still use; infinity if unknown.

    That is the free memory of the system, including swap, or less if a control group (a container, a batch job) or a
    limit of the address space allows less.
    """
    return max(0.0, min((_of_system(), *_of_cgroups(), _of_address_space())))


def _of_system() -> float:
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        return 1024.0 * sum(int(lines[name].split()[0]) for name in ("MemAvailable", "SwapFree"))
    except (OSError, KeyError, ValueError):
        pass
    try:  # total instead of free memory
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return math.inf


def _of_cgroups() -> Iterator[float]:
    """Bytes that each control group of this process, and each of its parents, still allows."""
    try:
        groups = [line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return
    for controllers, path in groups:
        if controllers not in _CGROUPS:
            continue
        folder, limit, usage, cache = _CGROUPS[controllers]
        for group in (PurePosixPath(path), *PurePosixPath(path).parents):
            place = Path(folder, str(group).lstrip("/"))
            try:
                statistics = dict(line.split() for line in (place / "memory.stat").read_text().splitlines())
                used = int((place / usage).read_text()) - int(statistics[cache])
                yield float(int((place / limit).read_text()) - used)
            except (OSError, KeyError, ValueError):  # no such group here, or "max"
                continue


def _of_address_space() -> float:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return math.inf
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return float(limit) - float(pages) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return math.inf


def size_text(n_bytes: float) -> str:
    """Format a number of bytes."""
    for unit in ("MiB", "GiB", "TiB", "PiB"):
        n_bytes /= 1024 if unit != "MiB" else 2**20
        if n_bytes < 1000:
            break
    return f"{n_bytes:.3g} {unit}"
