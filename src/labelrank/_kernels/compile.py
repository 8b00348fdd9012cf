"""The decorator of all kernels: compiled by numba, without the GIL, and cached on disk if possible."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache

_warned = False


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function on arrays with numba.

    The machine code is cached on disk: in the folder named by ``NUMBA_CACHE_DIR``, beside the module, or in the cache
    folder of the user. If none of them is writable (a read-only installation without a home folder, a full disk),
    functions are compiled in every process, with one warning.

    Parameters
    ----------
    function : callable
        The function.
    **options
        Further options of :func:`numba.njit`, such as ``fastmath``.

    Returns
    -------
    callable
        The compiled function, or a decorator if only options are given.
    """
    if function is None:
        return lambda function: kernel(function, **options)
    compiled = njit(nogil=True, **options)(function)
    try:
        compiled._cache = _Cache(function)  # as njit(cache=True) does, with a cache that survives errors of the disk
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        _warn_once("no cache folder can be written")
    return compiled


class _Cache(FunctionCache):
    """Cache of one function, disabled by errors of the file system."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except OSError as error:
            self._give_up(error)

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.disable()
        _warn_once(str(error))


def _warn_once(reason: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"compiled functions cannot be cached ({reason}). They are compiled again in every process, which takes "
            "seconds; set the environment variable NUMBA_CACHE_DIR to a writable folder",
            UserWarning,
            stacklevel=2,
        )
