"""Sections on the labels and the pairs of labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labelrank._arrays import FloatArray, competition_ranks
from labelrank.pairs import pair_counts
from labelrank.plots import PairMatrixDisplay, RankPositionDisplay
from labelrank.plots._matrix import figure_size
from labelrank.plots.pair_matrix import reversed_counts, shares_of_counts
from labelrank.report.evidence import Evidence
from labelrank.report.parts import Cell, Section, Table, bars, count_cell, number_cell, share, share_cell
from labelrank.report.svg import draw

_MOST_RANKS, _MOST_PAIRS = 5_000_000, 5_000_000  # limits of the samples
_MOST_LABELS = 1000  # largest number of labels for counts of pairs
_DRAWN = 25  # largest number of labels in a matrix
_WORST = 20  # largest number of pairs in the table


def labels_section(evidence: Evidence) -> Section:
    """Ranks of each label, observed and predicted."""
    title, k = "Label by label", evidence.graphs.shape[1]
    rows = evidence.sample(_MOST_RANKS / k)
    if not len(rows):
        return Section("labels", title, "There is nothing to compare: no row has an observed pair.")
    graphs = evidence.graphs[rows]
    if not evidence.is_ranked:
        return Section(
            "labels",
            title,
            "Labels have no ranks, because the observations are single pairs, such as battles. The next section shows "
            "how often each label wins.",
        )
    true, last = _places(graphs.rank_values())
    seen = ~np.isnan(true)
    predicted, predicted_last = _places(np.where(seen, evidence.ranks[rows], np.nan))
    middle, predicted_middle = (true + last) / 2, (predicted + predicted_last) / 2
    error = _column_means(np.maximum(np.maximum(true - predicted_middle, predicted_middle - last), 0))
    columns = [
        "label",
        "observed",
        "mean rank",
        "predicted mean rank",
        "mean error of the rank",
        "is first",
        "predicted first",
    ]
    first, predicted_first = (_column_means(np.where(seen, ranks == 1, np.nan)) for ranks in (true, predicted))
    cells = zip(
        evidence.names,
        seen.mean(axis=0).tolist(),
        *(_column_means(ranks).tolist() for ranks in (middle, predicted_middle)),
        zip(error.tolist(), bars(error.tolist(), [0.0] * k), strict=True),
        first.tolist(),
        predicted_first.tolist(),
        strict=True,
    )
    table = [
        [
            Cell(name),
            share_cell(observed),
            number_cell(mean, 2),
            number_cell(mean_predicted, 2),
            number_cell(off, 2, bar),
            share_cell(best),
            share_cell(predicted_best),
        ]
        for name, observed, mean, mean_predicted, (off, bar), best, predicted_best in cells
    ]
    lead = (
        f"Ranks among the observed labels of a row, 1 is the best, on {evidence.on(rows)}. Tied labels have the mean "
        "of their ranks, and predicting any of these ranks is not an error. Shares of first ranks refer to the rows in "
        "which a label was observed."
    )
    blocks: list[Any] = [Table("Labels", columns, table)]
    if k <= _DRAWN:
        blocks.append(_positions(evidence, true, predicted))
    worst = int(np.nanargmax(error))
    finding = f"The rank of “{evidence.names[worst]}” is off by {error[worst]:.2f} on average, the most of all labels."
    return Section("labels", title, lead, blocks, finding if error[worst] > 0 else "")


def _places(ranks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """First and last rank of each label, which differ for ties; NaN is propagated."""
    total = np.count_nonzero(~np.isnan(ranks), axis=1)[:, np.newaxis]
    return competition_ranks(ranks), total + 1 - competition_ranks(-ranks)


def _column_means(values: FloatArray) -> FloatArray:
    """Means of the columns, ignoring NaN; NaN if all values are NaN."""
    known = ~np.isnan(values)
    return np.asarray(np.where(known, values, 0).sum(axis=0) / np.where(known.any(axis=0), known.sum(axis=0), np.nan))


def _positions(evidence: Evidence, true: FloatArray, predicted: FloatArray) -> Any:
    names = evidence.names
    return _two_matrices(
        "positions",
        lambda ax: RankPositionDisplay.from_predictions(predicted, true, labels=names, ax=ax),
        figure_size(2, names, range(1, len(names) + 1)),
        alt="Two matrices: how often each label takes each position, as observed and as predicted.",
        caption="How often each label (row) takes each position (column).",
    )


def _two_matrices(key: str, plot: Callable[[Any], Any], size: tuple[float, float], **texts: str) -> Any:
    def matrices(ax: Any) -> None:
        for image in plot(ax).images_:
            image.set_interpolation("none")

    return draw(key, matrices, (max(size[0], 6.0), size[1]), **texts, inverted=True)


def pairs_section(evidence: Evidence) -> Section:
    """Observed and predicted shares of pairs, and the most frequently reversed pairs."""
    title, k = "Who beats whom", evidence.graphs.shape[1]
    if k > _MOST_LABELS:
        return Section("pairs", title, f"Pairs are counted for up to {_MOST_LABELS:,} labels; there are {k:,}.")
    rows = evidence.sample(2 * _MOST_PAIRS / (k * k))
    if not len(rows):
        return Section("pairs", title, "There is nothing to compare: no row has an observed pair.")
    graphs = evidence.graphs[rows]
    observed, wrong = pair_counts(graphs), reversed_counts(graphs, evidence.ranks[rows])
    predicted = observed - wrong + wrong.T
    blocks: list[Any] = [_matrix(evidence, observed, predicted), *_worst_pairs(evidence, observed, wrong)]
    if not evidence.is_ranked:
        blocks.append(_wins(evidence, observed, predicted))
    lead = f"Every observed pair of labels on {evidence.on(rows)}, and how the model orders the same pairs."
    both = wrong + wrong.T
    a, b = (evidence.names[i] for i in np.unravel_index(int(np.argmax(both)), both.shape))
    part = both.max() / (observed + observed.T).flat[int(np.argmax(both))] if both.max() else 0.0
    finding = f"“{a}” and “{b}” are confused most often: in {share(part)} of the rows in which they were compared."
    return Section("pairs", title, lead, blocks, finding if part else "")


def _matrix(evidence: Evidence, observed: FloatArray, predicted: FloatArray) -> Any:
    total = (observed + observed.T).sum(axis=1)
    chosen = np.sort(np.argsort(-total, kind="stable")[:_DRAWN])
    at = np.ix_(chosen, chosen)
    names = [evidence.names[i] for i in chosen]
    display = PairMatrixDisplay(shares_of_counts(observed[at]), shares_of_counts(predicted[at]), labels=names)
    few = "" if len(chosen) == len(total) else f" The {_DRAWN} most frequently compared labels of {len(total)}."
    return _two_matrices(
        "pairs",
        display.plot,
        figure_size(2, names, names),
        alt="Two matrices: how often the label of a row is before that of a column, as observed and as predicted.",
        caption="Share of the rows in which the label of a row comes before that of a column. Framed: the predicted "
        "majority is not the observed one. Hatched: never compared." + few,
    )


def _worst_pairs(evidence: Evidence, observed: FloatArray, wrong: FloatArray) -> list[Table]:
    a, b = np.triu_indices(len(observed), 1)
    number = (wrong + wrong.T)[a, b]
    order = [i for i in np.argsort(-number, kind="stable")[:_WORST].tolist() if number[i] > 0]
    total = observed + observed.T
    parts = [float(number[i] / total[a[i], b[i]]) for i in order]
    rows = [
        [
            Cell(f"{evidence.names[a[i]]} and {evidence.names[b[i]]}"),
            count_cell(total[a[i], b[i]]),
            share_cell(observed[a[i], b[i]] / total[a[i], b[i]]),
            count_cell(number[i]),
            Cell(share(part), part, bar),
        ]
        for i, part, bar in zip(order, parts, bars(parts, [0.0] * len(parts)), strict=True)
    ]
    columns = ["pair", "compared", "the first won", "reversed by the model", "share reversed"]
    caption, note = "Pairs that the model reverses most often", "Pairs that it ties count 1/2."
    return [Table(caption, columns, rows, note)] if rows else []


def _wins(evidence: Evidence, observed: FloatArray, predicted: FloatArray) -> Table:
    total = (observed + observed.T).sum(axis=1)
    won = [counts.sum(axis=1) / np.where(total > 0, total, np.nan) for counts in (observed, predicted)]
    rows = [
        [Cell(name), count_cell(pairs), share_cell(own, bar=True), share_cell(other)]
        for name, pairs, own, other in zip(evidence.names, total, *(each.tolist() for each in won), strict=True)
    ]
    return Table("Labels", ["label", "pairs", "won", "predicted to win"], rows)
