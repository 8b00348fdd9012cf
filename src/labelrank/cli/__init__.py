"""The ``labelrank`` command. Its dependencies are those of the extra ``cli`` and are imported when the command runs."""

from __future__ import annotations

import signal
import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command line."""
    require_extra()
    from labelrank.cli.app import app
    from labelrank.cli.streams import standard_streams

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Rankers answer a KeyboardInterrupt by keeping what they have learned; here it is the command that ends.
        signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    with standard_streams("labelrank"):
        app(prog_name="labelrank")


def require_extra() -> None:
    """Exit with status 1, and the command that helps, if the packages of the extra ``cli`` are not installed."""
    missing = [name for name in ("polars", "rich", "typer") if find_spec(name) is None]
    if missing:
        print(f"labelrank: the command line needs {', '.join(missing)}; install them with", file=sys.stderr)
        print('  pip install "labelrank[cli]"', file=sys.stderr)
        sys.exit(1)
