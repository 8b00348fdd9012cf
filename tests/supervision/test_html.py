"""Graphs as a table on a notebook."""

import html
import re

import numpy as np

from labelrank import PreferenceGraphs

NAN = np.nan


def cells(graphs):
    found = re.findall("<td.*?>(.*?)</td>", graphs._repr_html_())
    return [html.unescape(text) for text in found]


def test_levels_ties_and_missing_labels():
    graphs = PreferenceGraphs.from_rankings([[2, 1, 2], [NAN, 2, 1], [NAN] * 3, [1, 1, NAN]], labels=["a", "b", "c"])
    rows = ["b > a = c", "c > b", "(nothing observed)", "a = b"]
    assert cells(graphs)[1::3] == rows
    assert cells(graphs)[2::3] == ["2", "1", "0", "0"]
    assert "PreferenceGraphs(4 instances, 3 labels, 3 edges" in graphs._repr_html_()


def test_cycles_and_weights():
    graphs = PreferenceGraphs.from_pairs([0, 0, 0, 1], [0, 1, 2, 1], [1, 2, 0, 0])
    assert cells(graphs)[1::3] == ["0 > 1, 1 > 2, 2 > 0", "1 > 0"]
    weighted = PreferenceGraphs.from_pairs([0, 0], ["a", "b"], ["b", "c"], weight=[2.5, 1])
    assert cells(weighted)[1] == "a > b (× 2.5), b > c"


def test_names_are_escaped():
    text = PreferenceGraphs.from_rankings([[1, 2]], labels=["<script>", "a & b"])._repr_html_()
    assert "<script>" not in text
    assert "&lt;script&gt; &gt; a &amp; b" in text


def test_large_graphs_are_cut_short():
    y = np.tile(np.arange(40.0), (50, 1))
    found = cells(PreferenceGraphs.from_rankings(y))
    assert found[1] == " > ".join(map(str, range(12))) + " … 28 more"
    assert found[-1] == "… 42 more"
    cycle = PreferenceGraphs.from_pairs([0] * 20, np.arange(20), (np.arange(20) + 1) % 20)
    assert cells(cycle)[1].endswith("7 > 8, …")
    assert cells(PreferenceGraphs.from_rankings(np.empty((0, 3)))) == []
