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
from labelrank.report.parts import Cards, Cell, Section, Table, count_cell, number, plus_minus, share


def quality_section(evidence: Evidence) -> Section:
    """Scores with standard errors over the rows."""
    title, rows = "How good it is", evidence.sample(np.inf)
    if not len(rows):
        return Section("quality", title, "There is nothing to score: no row has an observed pair.")
    graphs, ranks = evidence.graphs, evidence.ranks
    same = np.broadcast_to(borda(graphs), ranks.shape)
    cards, table, means = [], [], {}
    for name, (score, text) in _metrics(evidence.is_ranked, graphs.shape[1]).items():
        own, other = score(graphs, ranks), score(graphs, same)
        found = [mean_and_error(each) for each in (own, other, own - other)]
        means[name] = [text(mean) for mean, *_ in found]
        cards.append((name, means[name][0], plus_minus(found[0][1], text), f"one order for everyone: {means[name][1]}"))
        cells = [Cell(f"{text(mean)} {plus_minus(error, text)}".strip(), mean) for mean, error, _ in found]
        table.append([Cell(name), *cells, count_cell(found[0][2])])
    columns = ["score", "the model", "one order for everyone", "difference", "rows"]
    lead = (
        f"Means over {evidence.on(rows)} with an observed pair, ± their standard error. One order for everyone is the "
        "Borda count of these very rows, which looks at no features."
    )
    if not evidence.is_ranked:
        lead += " Scores of the first labels need rankings, and what was observed here are single pairs."
    finding = f"{means[_PAIRS][0]} of the pairs of labels are in the right order (Kendall's tau {means[_TAU][0]})"
    finding += f", and the first label is right in {means[_FIRST][0]} of the rows." if _FIRST in means else "."
    finding += f" One order for everyone has {' and '.join(means[key][1] for key in (_PAIRS, _FIRST) if key in means)}."
    return Section("quality", title, lead, [Cards(cards[:4]), Table("Scores", columns, table)], finding)


_TAU, _FIRST, _PAIRS = "Kendall's tau", "first label right", "pairs in the right order"
_Metric = tuple[Callable[[Any, Any], FloatArray], Callable[[float], str]]


def _metrics(ranked: bool, k: int) -> dict[str, _Metric]:
    """Scores of each row, and how they are written."""
    metrics: dict[str, _Metric] = {_TAU: (partial(kendall_tau, average=None), number)}
    if ranked:
        metrics[_FIRST] = (partial(top_k_accuracy, k=1, average=None), share)
        if k > 3:
            metrics["best label in the first 3"] = (partial(top_k_accuracy, k=3, average=None), share)
    metrics[_PAIRS] = (lambda y, ranks: (1 + kendall_tau(y, ranks, average=None)) / 2, share)
    if ranked:
        metrics["Spearman's rho"] = (partial(spearman_rho, average=None), number)
    metrics["no pair reversed"] = (lambda y, ranks: 1 - zero_one_error(y, ranks, average=None), share)
    return metrics


def mean_and_error(values: FloatArray) -> tuple[float, float, int]:
    """Mean of the values that are known, its standard error, and their number."""
    known = values[~np.isnan(values)]
    n = len(known)
    error = float(known.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    return (float(known.mean()) if n else math.nan), error, n
