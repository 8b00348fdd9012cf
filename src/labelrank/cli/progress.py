"""The progress bar of the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import progress
from rich.console import Console


@contextmanager
def progress_bar(title: str, total: int, done: int = 0) -> Iterator[Callable[[], None]]:
    """Show a progress bar on a terminal; yields the function that advances it by one."""
    # Both must be terminals: otherwise the bar could end up in a file, or disturb a pager.
    if total == done or not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield lambda: None
        return
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, completed=done)
        yield lambda: bar.advance(task)


@contextmanager
def spinner(title: str, quiet: bool = False) -> Iterator[None]:
    """Show a spinner and the elapsed time on a terminal."""
    if quiet or not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield
        return
    columns = (progress.SpinnerColumn(), progress.TextColumn("{task.description}"), progress.TimeElapsedColumn())
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(title, total=None)
        yield
