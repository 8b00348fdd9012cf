"""Display objects as in scikit-learn. They need matplotlib: ``pip install "labelrank[plot]"``."""

from labelrank.plots.coverage import CoverageDisplay
from labelrank.plots.critical_difference import CriticalDifferenceDisplay
from labelrank.plots.loss_curve import LossCurveDisplay
from labelrank.plots.missing_rate import MissingRateDisplay
from labelrank.plots.pair_matrix import PairMatrixDisplay
from labelrank.plots.preference_graph import PreferenceGraphDisplay
from labelrank.plots.rank_position import RankPositionDisplay
from labelrank.plots.rejection_curve import RejectionCurveDisplay
from labelrank.plots.reliability import ReliabilityDisplay
from labelrank.plots.tree import TreeDisplay

__all__ = [
    "CoverageDisplay",
    "CriticalDifferenceDisplay",
    "LossCurveDisplay",
    "MissingRateDisplay",
    "PairMatrixDisplay",
    "PreferenceGraphDisplay",
    "RankPositionDisplay",
    "RejectionCurveDisplay",
    "ReliabilityDisplay",
    "TreeDisplay",
]
