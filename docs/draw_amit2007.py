"""Draw docs/_static/amit2007_training_errors.svg, the learning curves on the page on label covering.

They are those of boosting on Reuters-21578, which is read from the folder named by ``LABELRANK_DATA``. What is computed
is stored where ``python -m papers amit2007`` stores it, and taken from there; without it, boosting takes a minute or
two. Run it from the root of the repository when the experiment changes: ``PYTHONPATH=. python docs/draw_amit2007.py``.
"""

from __future__ import annotations

import dataclasses

from _svg import save

from papers.amit2007 import EXPERIMENT
from papers.amit2007.pictures import plot_training_errors
from papers.amit2007.study import studies


def boosting_cells(problem, protocol):
    """The cells of the classifiers that are boosted, which are all that the picture needs."""
    return [cell for cell in EXPERIMENT.cells(problem, protocol) if cell["learner"]["solver"] == "boosting"]


if __name__ == "__main__":
    [study] = studies(dataclasses.replace(EXPERIMENT, cells=boosting_cells).outcome("reuters"))
    save(plot_training_errors(study), "amit2007_training_errors.svg")
