"""Draw docs/_static/amit2007_training_errors.svg, the learning curves on the page on label covering.

They are those of boosting on Reuters-21578, which is read from the folder named by ``LABELRANK_DATA``. What is computed
is kept on disk where ``labelrank reproduce amit2007`` keeps it, and taken from there; without it, boosting takes a
minute or two. Run it when the experiment changes; the same numbers give the same file.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

from labelrank.experiments import ResultCache, run_cells
from labelrank.experiments.amit2007 import NAME, Outcome, cells_of, compute, load_problem, plot_training_errors
from labelrank.experiments.amit2007_data import TEXT

FILE = Path(__file__).with_name("_static") / "amit2007_training_errors.svg"


def boosted() -> Outcome:
    """The numbers of the classifiers that are boosted, which are all that the picture needs."""
    problem = load_problem("reuters", None, TEXT)
    cells = [cell for cell in cells_of(problem, TEXT) if cell["learner"]["solver"] == "boosting"]
    parts = (problem.X, problem.Y, problem.X_test, problem.Y_test)
    results = run_cells(compute, cells, *parts, cache=ResultCache(), title=f"{NAME} {problem.name}")
    return Outcome(problem, TEXT, cells, results)


if __name__ == "__main__":
    mpl.rcParams["svg.hashsalt"] = "labelrank"
    figure = plot_training_errors(boosted())[0].figure
    figure.savefig(FILE, metadata={"Date": None, "Creator": None}, facecolor="white")
    lines = FILE.read_text(encoding="utf-8").splitlines()
    FILE.write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")
