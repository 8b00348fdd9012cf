"""Figure 3 of the paper: the covering errors on the training data by round."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from papers.amit2007.measures import COVERINGS
from papers.amit2007.study import Study

COLORS = ("#222222", "#0072B2", "#009E73", "#D55E00", "#CC79A7")  # Okabe and Ito


def plot_training_errors(found: Study) -> Any:
    """Draw one panel per error and one line per covering; the line that should be the lowest is the thick one."""
    curves, names = found.curves(), list(COVERINGS.values())
    figure = Figure(figsize=(13, 3.0), layout="constrained")
    axes = figure.subplots(1, len(names))
    rounds = np.arange(curves.shape[2])
    for j, axis in enumerate(axes):
        for i, name in enumerate(names):
            axis.plot(rounds, curves[i, j], color=COLORS[i], linewidth=2.4 if i == j else 1.1, label=name)
        axis.set(title=names[j], xlabel="round", yscale="log")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("error on the training data")
    legend = axes[-1].legend(title="trained with", loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0)
    for line in legend.get_lines():
        line.set_linewidth(1.8)
    return figure
