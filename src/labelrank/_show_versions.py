"""Information about the machine for bug reports: versions, processors, settings of numba."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from labelrank import __version__

REQUIRED = ("numpy", "scipy", "scikit-learn", "numba")
OPTIONAL = (
    "polars",
    "pandas",
    "pyarrow",
    "rich",
    "skops",
    "typer",
    "dask",
    "distributed",
    "onnx",
    "onnxruntime",
    "jinja2",
    "matplotlib",
    "clarabel",
    "daqp",
    "osqp",
    "piqp",
    "torch",
)


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def show_versions() -> None:
    """Print the versions of Python, labelrank and its dependencies, for bug reports.

    Optional packages that are not installed are listed last. Nothing is imported, so that the report works even if an
    import fails.

    Examples
    --------
    >>> import labelrank
    >>> labelrank.show_versions()
    python ...
    machine ...
    labelrank ...
    not installed ...
    """
    found = {name: _installed(name) for name in (*REQUIRED, *OPTIONAL)}
    lines = {
        "python": f"{platform.python_version()} ({sys.executable})",
        "machine": f"{platform.platform()}, {os.cpu_count()} CPUs",
        "labelrank": __version__,
        **{name: value for name, value in found.items() if value is not None},
        **{name: os.environ[name] for name in sorted(os.environ) if name.startswith("NUMBA_")},
        "not installed": ", ".join(name for name, value in found.items() if value is None) or "-",
    }
    width = max(map(len, lines))
    for name, value in lines.items():
        print(f"{name:{width}}  {value}")
