"""The decorator of all kernels: numba, without the GIL, cached on disk where a cache can be written."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from numba import njit

_warned = False


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function on arrays with numba.

    The machine code is cached on disk, in the folder named by ``NUMBA_CACHE_DIR``, beside the module or in the user's
    cache folder. Where none of them can be written (a read-only installation without a home folder), functions are
    compiled in memory, and one warning names the variable.

    Parameters
    ----------
    function : callable
        The function.
    **options
        More options of :func:`numba.njit`, such as ``fastmath``.

    Returns
    -------
    callable
        The compiled function; a decorator when called with options alone.
    """
    if function is None:
        return lambda function: kernel(function, **options)
    try:
        return njit(nogil=True, cache=True, **options)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        _warn_once()
        return njit(nogil=True, **options)(function)


def _warn_once() -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            "compiled functions cannot be cached: neither the installation nor a cache folder of the user can be "
            "written. They are compiled again in every process, which takes seconds; set the environment variable "
            "NUMBA_CACHE_DIR to a folder that can be written",
            UserWarning,
            stacklevel=2,
        )
