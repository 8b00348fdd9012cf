"""Which device a learner works on, and errors about its memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from labelrank._memory import available_memory, size_text

# Of errors about memory that are not an OutOfMemoryError: of the processor, of CUDA itself, and of its libraries.
OTHER_WORDS = ("DefaultCPUAllocator", "out of memory", "_ALLOC_FAILED")


def find_device(device: str | None) -> Any:
    """Return the device of PyTorch that a learner works on, or None for NumPy and compiled loops.

    Parameters
    ----------
    device : {"cpu", "cuda", "auto"} or None
        ``"auto"`` is ``"cuda"`` if PyTorch finds a GPU, otherwise None.

    Examples
    --------
    >>> from labelrank.torch import find_device
    >>> find_device(None) is None
    True
    """
    if device is None or (device == "auto" and find_spec("torch") is None):
        return None
    if find_spec("torch") is None:
        raise ImportError(
            f"device={device!r} needs PyTorch, which is not installed; run pip install 'labelrank[torch]', or use "
            "device=None"
        )
    import torch

    if device != "cpu" and not _has_gpu(silent=device == "auto"):
        if device == "auto":
            return None
        raise ValueError(
            "device='cuda' needs a GPU, and PyTorch finds none (torch.cuda.is_available() is False); use device='auto' "
            "or None, or install labelrank[torch] with a build of PyTorch for your GPU"
        )
    return torch.device("cpu" if device == "cpu" else "cuda")


def _has_gpu(silent: bool) -> bool:
    """Whether PyTorch finds a GPU; if `silent`, without its warning about a driver that is too old."""
    import torch

    with warnings.catch_warnings():
        if silent:
            warnings.simplefilter("ignore")
        return bool(torch.cuda.is_available())


def tensor_of(values: Any, device: Any) -> Any:
    """Return a NumPy array as a tensor on a device; a copy if it is read-only or reversed, as tensors cannot be."""
    import torch

    exists = values.flags.writeable and min(values.strides, default=0) >= 0
    return torch.as_tensor(values if exists else values.copy(), device=device)


def free_memory(device: Any) -> float:
    """Bytes that can still be allocated on a device."""
    if device.type != "cuda":
        return available_memory()
    import torch

    cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return float(torch.cuda.mem_get_info(device)[0] + cached)


def entries_of_block(device: Any, most: int) -> int:
    """Numbers of a block of data, of which there are a few copies in float64: `most`, or fewer if memory is short."""
    return int(min(most, max(free_memory(device) / 64, 2**16)))


@contextmanager
def memory_errors(device: Any, n_bytes: float, what: str) -> Iterator[None]:
    """Turn a failed allocation on a device into a MemoryError that says how much was needed."""
    import torch

    try:
        yield
    except RuntimeError as error:
        if not isinstance(error, torch.OutOfMemoryError) and not any(words in str(error) for words in OTHER_WORDS):
            raise
        free = free_memory(device)
        raise MemoryError(
            f"{what} needs about {size_text(n_bytes)} of memory on device {str(device)!r}, where {size_text(free)} is "
            "free; use fewer rows or device=None"
        ) from error


def first_line(error: Exception) -> str:
    """Return the first line of the message of an error, of which a compiler writes many."""
    return next(iter(str(error).splitlines()), type(error).__name__)
