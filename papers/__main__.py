"""``python -m papers``: list the papers. ``python -m papers NAME``: compute the tables of one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from labelrank.cli import require_extra
from labelrank.cli.streams import standard_streams


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    require_extra()
    from papers import PAPERS, find
    from papers.frame import FORMATS

    parser = argparse.ArgumentParser(prog="python -m papers", description="Compute published tables again.")
    parser.add_argument("paper", nargs="?", help="the paper; without it, all papers are listed")
    parser.add_argument("--data", help="the data set (default: the first that the paper lists)")
    parser.add_argument("--folder", help="the folder with its files (default: found through LABELRANK_DATA)")
    parser.add_argument("--quick", action="store_true", help="run a small generated problem; needs no files")
    parser.add_argument("--jobs", "-j", type=int, default=1, help="processes; -1 for one per core")
    parser.add_argument("--cache", help="folder for results (default: LABELRANK_CACHE, then ~/.cache/labelrank)")
    parser.add_argument("--format", "-f", choices=FORMATS, default="table", help="output format")
    options = parser.parse_args(arguments)
    if options.paper is None:
        for name in PAPERS:
            paper = find(name)
            print(f"{name:18}{paper.title}\n{'':18}--data {', '.join(paper.data)}")
        return 0
    if options.jobs == 0:
        parser.error("--jobs must not be 0; use 1, or -1 for one process per core")
    try:
        report = find(options.paper).run(
            options.data, folder=options.folder, quick=options.quick, n_jobs=options.jobs, cache=options.cache
        )
    except (ValueError, OSError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print("stopped; run the same command again to continue from the results that are kept", file=sys.stderr)
        return 130
    report.print(options.format)
    return 0


if __name__ == "__main__":
    with standard_streams("papers"):
        sys.exit(main())
