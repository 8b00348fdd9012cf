"""How good the model is: its scores, beside those of one order for everyone."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.aggregation import borda
from labelrank.metrics import kendall_tau, spearman_rho, top_k_accuracy, zero_one_error
from labelrank.report.evidence import Evidence
from labelrank.report.parts import Cards, Cell, Section, Table, count_cell, number, plus_minus


def quality_section(evidence: Evidence) -> Section:
    """Scores with standard errors over the rows."""
    title, rows = "How good it is", evidence.sample(np.inf)
    if not len(rows):
        return Section("quality", title, "There is nothing to score: no row has an observed pair.")
    graphs, ranks = evidence.graphs, evidence.ranks
    same = np.broadcast_to(borda(graphs), ranks.shape)
    cards, table = [], []
    for name, score in _metrics(graphs.is_layered, graphs.shape[1]).items():
        own, other = score(graphs, ranks), score(graphs, same)
        (mean, error, n), (base, base_error, _) = mean_and_error(own), mean_and_error(other)
        gain, gain_error, _ = mean_and_error(own - other)
        cards.append((name, number(mean), plus_minus(error), f"one order for everyone: {number(base)}"))
        table.append(
            [
                Cell(name),
                Cell(f"{number(mean)} {plus_minus(error)}", mean),
                Cell(f"{number(base)} {plus_minus(base_error)}", base),
                Cell(f"{number(gain)} {plus_minus(gain_error)}", gain),
                count_cell(n),
            ]
        )
    columns = ["score", "the model", "one order for everyone", "difference", "rows"]
    lead = (
        f"Means over {evidence.on(rows)} with an observed pair, ± their standard error; 1 is best. One order for "
        "everyone is the Borda count of these very rows, the best that can be had without features."
    )
    if not graphs.is_layered:
        lead += " Scores of the first labels need rankings, and what was observed here are single pairs."
    finding = (
        f"Kendall's tau is {cards[0][1]} {cards[0][2]}; one order for everyone would have "
        f"{number(mean_and_error(kendall_tau(graphs, same, average=None))[0])}."
    )
    return Section("quality", title, lead, [Cards(cards[:4]), Table("Scores", columns, table)], finding)


def _metrics(layered: bool, k: int) -> dict[str, Callable[[Any, Any], FloatArray]]:
    """Scores of each row, 1 is best."""
    metrics: dict[str, Callable[[Any, Any], FloatArray]] = {"Kendall's tau": partial(kendall_tau, average=None)}
    if layered:
        metrics["first label right"] = partial(top_k_accuracy, k=1, average=None)
        if k > 3:
            metrics["best label in the first 3"] = partial(top_k_accuracy, k=3, average=None)
    metrics["pairs in the right order"] = lambda y, ranks: (1 + kendall_tau(y, ranks, average=None)) / 2
    if layered:
        metrics["Spearman's rho"] = partial(spearman_rho, average=None)
    metrics["no pair reversed"] = lambda y, ranks: 1 - zero_one_error(y, ranks, average=None)
    return metrics


def mean_and_error(values: FloatArray) -> tuple[float, float, int]:
    """Mean of the values that are known, its standard error, and their number."""
    known = values[~np.isnan(values)]
    n = len(known)
    error = float(known.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    return (float(known.mean()) if n else math.nan), error, n
