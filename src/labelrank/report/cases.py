"""The instances that the model ranks worst, with observed and predicted rankings and explanations."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank._arrays import competition_ranks
from labelrank.report.evidence import Evidence
from labelrank.report.parts import Case, Cell, Section, Table, bars, compact, number, number_cell
from labelrank.supervision import orders_from_ranks
from labelrank.supervision.frames import frame_of
from labelrank.supervision.names import labels_of
from labelrank.trust import confidence, explain
from labelrank.trust.delegation import has_proba
from labelrank.trust.explanation import HOW
from labelrank.trust.failures import joined, observed_text, worst_rows

_LISTED, _EXPLAINED = 20, 6
_FACTS, _PARTS = 8, 6  # features of an instance that are shown, and contributions
_BACKGROUND, _PERMUTATIONS, _MOST_FEATURES = 50, 20, 200


def cases_section(evidence: Evidence) -> Section:
    """List the hardest instances and explain the first of them."""
    title = "The hardest instances"
    rows, tau = worst_rows(evidence.graphs, evidence.ranks, _LISTED)
    if not len(rows):
        return Section("hardest", title, "No row has an observed pair.")
    rows, tau = rows[tau < 1], tau[tau < 1]
    if not len(rows):
        return Section("hardest", title, "The model orders all observed pairs of all rows correctly.")
    known = has_proba(evidence.model)
    sure = confidence(evidence.model, evidence.rows(rows)) if known else np.full(len(rows), np.nan)
    observed = [observed_text(evidence.graphs[[row]], evidence.labels) for row in rows]
    predicted = [joined(order) for order in orders_from_ranks(evidence.ranks[rows], labels=evidence.labels)]
    table = [
        [
            Cell(evidence.row_name(row), float(row) if evidence.row_name(row).startswith("row ") else None),
            number_cell(value),
            number_cell(float(trust)),
            Cell(compact(true)),
            Cell(compact(guess)),
        ]
        for row, value, trust, true, guess in zip(rows.tolist(), tau.tolist(), sure, observed, predicted, strict=True)
    ]
    columns = ["instance", "Kendall's tau", "confidence", "observed, best first", "predicted, best first"]
    if not known:
        columns, table = [*columns[:2], *columns[3:]], [[*row[:2], *row[3:]] for row in table]
    blocks: list[Any] = [Table("Instances", columns, table)]
    blocks += [
        _case(evidence, int(row), float(value), texts)
        for row, value, *texts in list(zip(rows, tau, observed, predicted, strict=True))[:_EXPLAINED]
    ]
    lead = (
        f"The {len(rows)} instances with the lowest Kendall's tau of all {len(evidence.known):,}. For the first "
        f"{_EXPLAINED}, an explanation of the worst reversed pair."
    )
    return Section("hardest", title, lead, blocks)


def _case(evidence: Evidence, row: int, tau: float, texts: list[str]) -> Case:
    facts = [("observed", compact(texts[0])), ("predicted", compact(texts[1])), *_features(evidence, row)]
    a, b = _clearest_mistake(evidence, row)
    better, worse = (evidence.labels.tolist()[i] for i in (b, a))
    title = f"{evidence.row_name(row)}: “{better}” before “{worse}”, tau {number(tau)}"
    try:
        found = _explanation(evidence, row, better, worse)
    except (ValueError, TypeError, MemoryError) as error:
        return Case(title, facts, None, f"Why “{better}” comes before “{worse}” is not explained: {compact(error)}.")
    order = [i for i in np.argsort(-np.abs(found.contributions), kind="stable").tolist() if found.contributions[i]]
    parts = [(found.items[i], compact(found.values[i]), float(found.contributions[i])) for i in order[:_PARTS]]
    rest = float(sum(found.contributions[i] for i in order[_PARTS:]))
    if order[_PARTS:]:
        parts.append((f"{len(order) - _PARTS} others", "", rest))
    if found.base:
        parts.append(("base", "", float(found.base)))
    drawn = bars([part for *_, part in parts], [0.0] * len(parts))
    cells = [
        [Cell(item), Cell(value), number_cell(part, bar=bar)]
        for (item, value, part), bar in zip(parts, drawn, strict=True)
    ]
    how = f"estimated from {_PERMUTATIONS} permutations" if found.method == "permutation" else HOW[found.method]
    reason = f"Why the model ranks “{better}” before “{worse}”, which is wrong ({how})"
    return Case(title, facts, Table(reason, ["feature", found.value_name, f"speaks for “{better}”"], cells), "")


def _clearest_mistake(evidence: Evidence, row: int) -> tuple[int, int]:
    """The observed pair whose predicted order is reversed with the largest difference of ranks."""
    edges = evidence.graphs[[row]].to_edges()
    place = competition_ranks(evidence.ranks[[row]])[0]
    worst = int(np.argmax(place[edges.better] - place[edges.worse]))
    return int(edges.better[worst]), int(edges.worse[worst])


def _explanation(evidence: Evidence, row: int, better: Any, worse: Any) -> Any:
    own = labels_of(evidence.model)
    if own is not None:  # without names on one side, labels are matched by position
        place = {name: i for i, name in enumerate(evidence.labels.tolist())}
        better, worse = (own.tolist()[int(evidence.columns[place[name]])] for name in (better, worse))
    x = evidence.rows(np.array([row]))
    x = list(x) if evidence.feature_names is None else x
    try:
        return explain(evidence.model, x, better, worse)
    except ValueError as error:
        if "background" not in str(error) or len(evidence.feature_names or []) > _MOST_FEATURES:
            raise
    background = evidence.rows(evidence.sample(_BACKGROUND))
    return explain(
        evidence.model,
        x,
        better,
        worse,
        background=background,
        n_permutations=_PERMUTATIONS,
        random_state=evidence.seed,
    )


def _features(evidence: Evidence, row: int) -> list[tuple[str, str]]:
    """The first features of an instance; for sparse instances the first nonzero ones."""
    x, names = evidence.rows(np.array([row])), evidence.feature_names
    if names is None:
        return [("text", compact(next(iter(x))))]
    frame = frame_of(x)
    if frame is not None:
        return [(str(name), compact(frame.get_column(name).to_list()[0])) for name in frame.columns[:_FACTS]]
    values = x.toarray().ravel() if hasattr(x, "toarray") else np.ravel(x)
    shown = np.flatnonzero(values) if hasattr(x, "toarray") else np.arange(len(values))
    return [(names[i], compact(values[i].item() if hasattr(values[i], "item") else values[i])) for i in shown[:_FACTS]]
