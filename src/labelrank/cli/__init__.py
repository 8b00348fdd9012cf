"""The ``labelrank`` command. The dependencies of the extra ``cli`` are imported when the command runs."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, NoReturn

_PATIENCE = 5.0  # seconds for a command to end after control-C


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Rankers catch KeyboardInterrupt to keep a partial fit, but the command should end.
        signal.signal(signal.SIGINT, _end)
    require_extra()
    from labelrank.cli.app import app
    from labelrank.cli.streams import standard_streams

    with standard_streams("labelrank"):
        app(prog_name="labelrank")


def _end(*_: Any) -> NoReturn:
    """End the command, even if the exception is swallowed, as in a callback, or leaves an import lock held."""
    with suppress(RuntimeError):  # the interpreter is shutting down
        _thread.start_new_thread(_end_later, ())  # unlike threading, needs no lock, which may be held
    sys.exit(130)


def _end_later() -> None:
    time.sleep(_PATIENCE)
    os._exit(130)


def require_extra() -> None:
    """Exit with status 1 and an install command if the packages of the extra ``cli`` are missing."""
    missing = [name for name in ("polars", "rich", "typer") if find_spec(name) is None]
    if missing:
        print(f"labelrank: the command line needs {', '.join(missing)}; install them with", file=sys.stderr)
        print('  pip install "labelrank[cli]"', file=sys.stderr)
        sys.exit(1)
