"""Sections on the confidence of the model: calibration, rejection curve, coverage of guarantees."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank._arrays import FloatArray
from labelrank.plots import CoverageDisplay, RejectionCurveDisplay, ReliabilityDisplay
from labelrank.report.evidence import Evidence
from labelrank.report.parts import Section, Table, count_cell, number, number_cell, share, share_cell
from labelrank.report.svg import draw
from labelrank.supervision.names import unwrapped
from labelrank.trust import confidence, pairwise_proba
from labelrank.trust.delegation import has_proba, innermost

_MOST_ROWS, _MOST_PROBABILITIES = 5000, 10_000_000
_ALPHAS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
_KEPT = (1.0, 0.9, 0.75, 0.5, 0.25, 0.1)
_NO_PAIRS = "has no pair probabilities; PairwiseCalibrator learns them from the predictions of any ranker."


def calibration_section(evidence: Evidence) -> Section:
    """Observed against predicted shares of pairs."""
    title, reason = "Can the probabilities be trusted?", _without_proba(evidence)
    if reason:
        return Section("calibration", title, reason)
    rows = _sample(evidence)
    found = pairwise_proba(evidence.model, evidence.rows(rows))
    proba = found[:, evidence.columns[:, np.newaxis], evidence.columns]
    display: Any = None

    def reliability(ax: Any) -> None:
        nonlocal display
        display = ReliabilityDisplay.from_predictions(evidence.graphs[rows], proba, ax=ax)

    figure = draw(
        "calibration",
        reliability,
        (5.4, 4.6),
        alt="Observed share of pairs in the predicted order by their predicted probability, with a histogram below.",
        caption="Points on the diagonal are calibrated; below it the model is overconfident, above it underconfident. "
        "The lower part shows the numbers of pairs.",
    )
    lead = f"Share of pairs observed in the predicted order, by predicted probability, on {evidence.on(rows)}."
    gap = float(np.average(display.observed - display.predicted, weights=display.weight))
    one_sided = display.error_ >= 0.02 and abs(gap) > display.error_ / 2
    way = "" if not one_sided else ", mostly too low" if gap > 0 else ", mostly too high"
    finding = f"Probabilities of pairs are off by {number(display.error_)} on average{way}."
    return Section("calibration", title, lead, [figure], finding)


def rejection_section(evidence: Evidence) -> Section:
    """Errors that remain if the least confident predictions are rejected."""
    title, reason = "When to ask a person", _without_proba(evidence)
    if reason:
        return Section("rejection", title, reason)
    rows = _sample(evidence)
    sure = np.asarray(confidence(evidence.model, evidence.rows(rows)), dtype=np.float64)
    balance, total = evidence.graphs[rows].concordance(evidence.ranks[rows])
    tau = balance / total

    def rejection(ax: Any) -> None:
        RejectionCurveDisplay((1 - tau) / 2, sure).plot(ax)

    figure = draw(
        "rejection",
        rejection,
        (6.0, 4.0),
        alt="Share of pairs in the wrong order among the instances that are kept, by the share of instances kept.",
        caption="Share of the pairs in the wrong order among the instances that are kept. The oracle, which knows the "
        "errors, is a lower bound.",
    )
    table = _kept(tau, sure)
    lead = f"Errors that remain if the least confident predictions are left to a person, on {evidence.on(rows)}."
    half = next(row for row in table.rows if row[0].sort == 0.5)
    finding = (
        f"In the more confident half of the rows, {half[4].text} of the pairs are in the wrong order; in all rows, "
        f"{table.rows[0][4].text}."
    )
    return Section("rejection", title, lead, [figure, table], finding if len(rows) > 1 else "")


def _kept(tau: FloatArray, sure: FloatArray) -> Table:
    order = np.argsort(-sure, kind="stable")
    rows = []
    for part in _KEPT:
        kept = order[: max(round(part * len(order)), 1)]
        mean = float(tau[kept].mean())
        cells = [share_cell(part), count_cell(len(kept)), number_cell(float(sure[kept[-1]]))]
        rows.append([*cells, number_cell(mean), share_cell((1 - mean) / 2)])
    columns = ["kept", "rows", "least confidence", "Kendall's tau", "pairs in the wrong order"]
    return Table("Rows that are kept", columns, rows)


def coverage_section(evidence: Evidence) -> Section:
    """Empirical against nominal coverage of a conformal ranker."""
    title = "Do the guarantees hold?"
    if not _is_conformal(evidence.model):
        return Section("coverage", title, "The model has no guarantee. ConformalRanker adds one to any ranker.")
    rows = _sample(evidence)
    if not len(rows):
        return Section("coverage", title, "There is nothing to compare: no row has an observed pair.")
    ranker, X = innermost(evidence.model, evidence.rows(rows), "with_alpha")
    if ranker.groups_ is not None:
        return Section(
            "coverage", title, "The guarantee is per group, but the groups of the rows are unknown in a report."
        )
    graphs = evidence.graphs[rows]
    fewest = 1 / (float(ranker.n_calibration_.min()) + 1)  # nothing can be asserted below
    alphas = sorted({*(alpha for alpha in _ALPHAS if alpha >= fewest), ranker.alpha})

    def coverage(ax: Any) -> None:
        CoverageDisplay.from_estimator(ranker, X, graphs, alphas=alphas, ax=ax)

    figure = draw(
        "coverage",
        coverage,
        (5.4, 4.6),
        alt="Empirical coverage by nominal coverage with a band around the diagonal, and the completeness below.",
        caption="A point below the band means that these rows differ from the calibration rows. Completeness is the "
        "asserted share.",
    )
    held, asserted = ranker.coverage(X, graphs), ranker.completeness(X)
    what, how_much = {
        "ranking": ("no asserted pair is reversed", "of the pairs are asserted"),
        "decomposition": ("no asserted part of a ranking is reversed", "of the pairs are asserted"),
        "top_k": (f"the true first {ranker.k} are in the predicted set", "of the other labels are ruled out"),
    }[ranker.target]
    finding = (
        f"The guarantee that {what}, given for {share(1 - ranker.alpha)}, held in {share(held)}; "
        f"{share(asserted)} {how_much}."
    )
    lead = f"{finding} Measured on {evidence.on(rows)}."
    return Section("coverage", title, lead, [figure], finding)


def _sample(evidence: Evidence) -> Any:
    return evidence.sample(min(_MOST_ROWS, _MOST_PROBABILITIES / evidence.graphs.shape[1] ** 2))


def _without_proba(evidence: Evidence) -> str:
    """Reason why the section has no content; empty if there is none."""
    if not has_proba(evidence.model):
        return f"{type(evidence.model).__name__} {_NO_PAIRS}"
    return "" if len(evidence.known) else "There is nothing to compare: no row has an observed pair."


def _is_conformal(model: Any) -> bool:
    while model is not None and not hasattr(type(model), "with_alpha"):
        model = unwrapped(model)[1]
    return model is not None
