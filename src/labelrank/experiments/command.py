"""``python -m labelrank.experiments.NAME``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from labelrank.experiments.table import FORMATS, Report


def command(
    run: Callable[..., Report], description: str, data: Sequence[str], arguments: Sequence[str] | None = None
) -> None:
    """Run an experiment with the options that all have, and print its report."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", choices=list(data), default=data[0], help="the data set (default: %(default)s)")
    parser.add_argument("--folder", help="where its files are (default: found through LABELRANK_DATA)")
    parser.add_argument("--quick", action="store_true", help="a small generated problem; needs no files")
    parser.add_argument("--jobs", "-j", type=int, default=1, help="processes; -1 for one per core")
    parser.add_argument("--cache", help="folder for the results of the cells")
    parser.add_argument("--format", "-f", choices=FORMATS, default="table", help="what to print")
    options = parser.parse_args(arguments)
    try:
        report = run(options.data, folder=options.folder, quick=options.quick, n_jobs=options.jobs, cache=options.cache)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    report.print(options.format)
