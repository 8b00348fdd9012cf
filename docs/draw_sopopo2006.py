"""Draw docs/_static/sopopo2006.svg, the times by the number of labels on the page on soft projections.

The times are taken from where ``labelrank reproduce sopopo2006`` keeps them, in the folder named by
``LABELRANK_CACHE``; what is not there is timed first, which takes minutes. Run it when the experiment changes; the same
numbers give the same file.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

from labelrank.experiments.sopopo2006 import plot_times, run

FILE = Path(__file__).with_name("_static") / "sopopo2006.svg"

if __name__ == "__main__":
    mpl.rcParams["svg.hashsalt"] = "labelrank"
    figure = plot_times(run())[0].figure
    figure.savefig(FILE, metadata={"Date": None, "Creator": None}, facecolor="white")
    lines = FILE.read_text(encoding="utf-8").splitlines()
    FILE.write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")
