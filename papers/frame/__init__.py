"""What all papers share: the experiment with its cache and folds, and tables."""

from papers.frame.cache import Cell, Numbers, ResultCache, default_folder, fingerprint
from papers.frame.experiment import Experiment, Outcome, fit_quietly, fold_of, run_cells
from papers.frame.table import FORMATS, Report, Table

__all__ = [
    "FORMATS",
    "Cell",
    "Experiment",
    "Numbers",
    "Outcome",
    "Report",
    "ResultCache",
    "Table",
    "default_folder",
    "fingerprint",
    "fit_quietly",
    "fold_of",
    "run_cells",
]
