"""Preference graphs as a table in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from labelrank.supervision.graphs import PreferenceGraphs

_ROWS, _LABELS, _EDGES = 8, 12, 8


class HtmlTable:
    """Shows the first graphs as text: labels in order, ``>`` between levels and ``=`` between tied labels.

    Graphs that are not layered, such as cycles, list their edges instead. Labels that were not observed are absent.

    Examples
    --------
    >>> import re
    >>> from labelrank import PreferenceGraphs
    >>> graphs = PreferenceGraphs.from_rankings([[2, 1, 2], [1, float("nan"), 2]], labels=["tea", "milk", "<b>"])
    >>> re.findall("<td>(.*?)</td>", graphs._repr_html_())
    ['0', 'milk &gt; tea = &lt;b&gt;', '2', '1', 'tea &gt; &lt;b&gt;', '1']
    """

    def _repr_html_(self: Any) -> str:
        counts = self[:_ROWS].edge_counts()
        rows = [
            f"<tr><td>{i}</td><td>{escape(_text(self[i : i + 1]))}</td><td>{counts[i]}</td></tr>"
            for i in range(len(counts))
        ]
        if len(self) > _ROWS:
            rows.append(f'<tr><td colspan="3">… {len(self) - _ROWS} more</td></tr>')
        head = "<tr><th></th><th>preferences</th><th>edges</th></tr>"
        return (
            f"<table><caption>{escape(repr(self))}</caption><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
        )


def _text(graph: PreferenceGraphs) -> str:
    """The graph of one instance in a line of text."""
    if graph.weight is None and graph.is_layered:
        return _levels(graph)
    edges = graph.to_edges()
    names, weight = graph.labels, graph.edge_weights()
    parts = [
        f"{names[a]} > {names[b]}" + (f" (× {w:.4g})" if w != 1 else "")
        for a, b, w in list(zip(edges.better, edges.worse, weight, strict=True))[:_EDGES]
    ]
    return ", ".join(parts) + (", …" if graph.n_edges > _EDGES else "")


def _levels(graph: PreferenceGraphs) -> str:
    ranks = graph.rank_values()[0]
    order = np.argsort(ranks, kind="stable")[: int((~np.isnan(ranks)).sum())]
    text = ""
    for place, label in enumerate(order[:_LABELS].tolist()):
        if place:
            text += " > " if ranks[label] > ranks[order[place - 1]] else " = "
        text += str(graph.labels[label])
    hidden = len(order) - _LABELS
    return text + (f" … {hidden} more" if hidden > 0 else "") if len(order) else "(nothing observed)"
