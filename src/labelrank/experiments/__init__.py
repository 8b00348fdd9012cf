"""Published tables, one declarative file each, and what they share: runner, cache, table and plot.

An experiment is a list of *cells*. A cell says everything that determines its numbers (data set, protocol, learner,
fold) and is computed by one function; cells are independent, so they run in parallel, each result is kept on disk, and
an interrupted run goes on where it stopped. See :mod:`labelrank.experiments.dekel2003` for how one is written.
"""

from labelrank.experiments.cache import ResultCache, default_folder, fingerprint
from labelrank.experiments.friedman import Friedman, friedman_test
from labelrank.experiments.paired import Paired, paired_comparison
from labelrank.experiments.plot import plot_table
from labelrank.experiments.runner import fold_of, run_cells
from labelrank.experiments.table import Report, Table

EXPERIMENTS = ("dekel2003", "amit2007", "cheng2009", "sopopo2006", "tsivtsivadze2008")

__all__ = [
    "EXPERIMENTS",
    "Friedman",
    "Paired",
    "Report",
    "ResultCache",
    "Table",
    "default_folder",
    "fingerprint",
    "fold_of",
    "friedman_test",
    "paired_comparison",
    "plot_table",
    "run_cells",
]
