"""Display objects as in scikit-learn. They need matplotlib: ``pip install labelrank[plot]``."""

from labelrank.plots.loss_curve import LossCurveDisplay
from labelrank.plots.preference_graph import PreferenceGraphDisplay
from labelrank.plots.tree import TreeDisplay, plot_tree

__all__ = ["LossCurveDisplay", "PreferenceGraphDisplay", "TreeDisplay", "plot_tree"]
