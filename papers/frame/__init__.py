"""What all papers share: the experiment with its cache and folds, tables, and statistical tests."""

from papers.frame.cache import Cell, Numbers, ResultCache, default_folder, fingerprint
from papers.frame.experiment import Experiment, Outcome, fit_quietly, fold_of, run_cells
from papers.frame.statistics import Friedman, Paired, friedman_test, paired_comparison, signed_rank_test
from papers.frame.table import FORMATS, Report, Table

__all__ = [
    "FORMATS",
    "Cell",
    "Experiment",
    "Friedman",
    "Numbers",
    "Outcome",
    "Paired",
    "Report",
    "ResultCache",
    "Table",
    "default_folder",
    "fingerprint",
    "fit_quietly",
    "fold_of",
    "friedman_test",
    "paired_comparison",
    "run_cells",
    "signed_rank_test",
]
