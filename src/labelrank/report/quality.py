"""Section on the scores of the model, next to those of a constant ranking."""

from __future__ import annotations

import math

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.aggregation import borda
from labelrank.metrics import kendall_tau, spearman_rho, top_k_accuracy
from labelrank.report.evidence import Evidence
from labelrank.report.parts import Cards, Cell, Section, Table, count_cell, number, plus_minus, share

_TAU, _RHO = "Kendall's tau", "Spearman's rho"
_FIRST, _PAIRS = "first label right", "pairs in the right order"


def quality_section(evidence: Evidence) -> Section:
    """Scores with standard errors over the rows."""
    title, rows = "Accuracy", evidence.sample(np.inf)
    if not len(rows):
        return Section("quality", title, "There is nothing to score: no row has an observed pair.")
    own = _scores(evidence, evidence.ranks)
    same = _scores(evidence, np.broadcast_to(borda(evidence.graphs), evidence.ranks.shape))
    cards, table, means = [], [], {}
    for name in own:
        text = number if name in (_TAU, _RHO) else share
        found = [mean_and_error(each) for each in (own[name], same[name], own[name] - same[name])]
        means[name] = [text(mean) for mean, *_ in found]
        cards.append((name, means[name][0], plus_minus(found[0][1], text), f"constant ranking: {means[name][1]}"))
        cells = [Cell(f"{text(mean)} {plus_minus(error, text)}".strip(), mean) for mean, error, _ in found]
        table.append([Cell(name), *cells, count_cell(found[0][2])])
    columns = ["score", "the model", "constant ranking", "difference", "rows"]
    lead = (
        f"Means over {evidence.on(rows)} with an observed pair, ± standard error. The constant ranking is the Borda "
        "count of the same rows, without features."
    )
    if not evidence.is_ranked:
        lead += " Scores of the first labels need rankings, but the observations are single pairs."
    finding = f"{means[_PAIRS][0]} of the pairs of labels are in the right order (Kendall's tau {means[_TAU][0]})"
    finding += f", and the first label is right in {means[_FIRST][0]} of the rows." if _FIRST in means else "."
    finding += f" The constant ranking has {' and '.join(means[key][1] for key in (_PAIRS, _FIRST) if key in means)}."
    return Section("quality", title, lead, [Cards(cards[:4]), Table("Scores", columns, table)], finding)


def _scores(evidence: Evidence, ranks: FloatArray) -> dict[str, FloatArray]:
    """Scores of each row, NaN if undefined."""
    graphs = evidence.graphs
    tau: FloatArray = kendall_tau(graphs, ranks, average=None)
    scores = {_TAU: tau}
    if evidence.is_ranked:
        scores[_FIRST] = top_k_accuracy(graphs, ranks, k=1, average=None)
        if graphs.shape[1] > 3:
            scores["best label in the first 3"] = top_k_accuracy(graphs, ranks, k=3, average=None)
    scores[_PAIRS] = (1 + tau) / 2
    if evidence.is_ranked:
        scores[_RHO] = spearman_rho(graphs, ranks, average=None)
    scores["no pair reversed"] = np.where(np.isnan(tau), np.nan, tau > 1 - 1e-12)
    return scores


def mean_and_error(values: FloatArray) -> tuple[float, float, int]:
    """Mean without NaN, its standard error, and the number of values."""
    known = values[~np.isnan(values)]
    n = len(known)
    error = float(known.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    return (float(known.mean()) if n else math.nan), error, n
