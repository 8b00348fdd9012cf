"""Displays: what is drawn is what is in the graph, and the errors are those of the metrics."""

import sys
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch

from labelrank import PreferenceGraphs
from labelrank.decompositions import EdgeWeighted, Subgraph, domination
from labelrank.metrics import generalized_error
from labelrank.plots import LossCurveDisplay, PreferenceGraphDisplay, layout

EDGES = [(1, 2), (1, 4), (1, 5), (2, 3), (3, 1), (3, 5), (5, 2), (5, 4)]
FOUR = {"disagreement": (3, 8), "domination": (2, 4), "dominated": (3, 5), "zero_one": (1, 1)}
nan = float("nan")


@pytest.fixture
def figure_2():
    """The graph of Figure 2 of Dekel, Manning and Singer."""
    better, worse = zip(*EDGES, strict=True)
    return PreferenceGraphs.from_pairs([0] * len(EDGES), better, worse, labels=[1, 2, 3, 4, 5])


def arrows(ax):
    return [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]


def dashed(ax):
    return [patch for patch in arrows(ax) if patch.get_linestyle() not in ("-", "solid")]


def has_head(arrow):
    return "|>" in type(arrow.get_arrowstyle()).__name__ or type(arrow.get_arrowstyle()).__name__ == "CurveFilledB"


def nodes(ax):
    """Name -> text of each node with a box."""
    return {text.get_text(): text for text in ax.texts if text.get_bbox_patch() is not None and text.get_visible()}


def ends(ax):
    """Names at both ends of each arrow."""
    return {(a.ends[0].get_text(), a.ends[1].get_text()) for a in arrows(ax)}


# --- The graph


def test_whole_graph(figure_2):
    display = PreferenceGraphDisplay.from_graphs(figure_2)
    assert set(nodes(display.ax_)) == {"1", "2", "3", "4", "5"}
    assert ends(display.ax_) == {(str(a), str(b)) for a, b in EDGES}
    assert not dashed(display.ax_)
    assert all(has_head(arrow) for arrow in arrows(display.ax_))
    assert display.ax_.get_title() == display.note_ == ""
    assert display.error is None
    assert list(display.axes_) == [display.ax_]


def test_labels_of_other_graphs_stand_on_a_circle(figure_2):
    display = PreferenceGraphDisplay.from_graphs(figure_2)
    places = np.array([nodes(display.ax_)[str(i)].get_position() for i in range(1, 6)])
    distances = np.linalg.norm(places - places.mean(axis=0), axis=1)
    np.testing.assert_allclose(distances, distances[0])
    assert places[0, 1] == places[:, 1].max()  # the first at the top


def test_edges_that_a_ranking_contradicts_are_dashed_and_headless(figure_2):
    display = PreferenceGraphDisplay.from_graphs(figure_2, ranks=[1, 2, 3, 4, 5])
    wrong = dashed(display.ax_)
    assert {tuple(int(t.get_text()) for t in a.ends) for a in wrong} == {(3, 1), (5, 2), (5, 4)}
    assert not any(has_head(arrow) for arrow in wrong)
    assert all(has_head(arrow) for arrow in arrows(display.ax_) if arrow not in wrong)
    assert len({to_hex(arrow.get_edgecolor()) for arrow in arrows(display.ax_)}) == 2
    assert display.ax_.get_title() == "disagreement: 3 of 8"
    assert "ranked 1, 2, 3, 4, 5" in [text.get_text() for text in display.ax_.texts]


def test_a_tie_in_the_ranking_disagrees():
    display = PreferenceGraphDisplay.from_graphs([[1, 2, 3]], ranks=[1, 1, 2])
    assert len(dashed(display.ax_)) == 1
    assert display.error == pytest.approx(1 / 3)
    assert "ranked 0 = 1, 2" in [text.get_text() for text in display.ax_.texts]


@pytest.mark.parametrize("storage", ["levels", "edges", "weighted"])
def test_levels_from_the_top(storage):
    graphs = PreferenceGraphs.from_rankings([[2, 1, 2, 3, nan]], labels=["a", "b", "c", "d", "e"])
    if storage != "levels":
        edges = graphs.to_edges()
        weight = np.arange(1.0, 1 + graphs.n_edges) if storage == "weighted" else None
        graphs = PreferenceGraphs.from_pairs(*edges, weight, labels=graphs.labels)
    drawn = nodes(PreferenceGraphDisplay.from_graphs(graphs).ax_)
    height = {name: text.get_position()[1] for name, text in drawn.items()}
    assert height["b"] > height["a"] == height["c"] > height["d"] > height["e"]
    assert drawn["e"].get_color() != drawn["d"].get_color()  # not observed


def test_weights_are_widths():
    graphs = PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0], [1, 2, 4])
    widths = {a.ends[0].get_text(): a.get_linewidth() for a in arrows(PreferenceGraphDisplay.from_graphs(graphs).ax_)}
    assert widths["0"] < widths["1"] < widths["2"]


def test_names_are_text_and_nothing_else():
    graphs = PreferenceGraphs.from_rankings([[1, 2, 3]], labels=["$x^2", "a\nb", "a name that goes on and on"])
    display = PreferenceGraphDisplay.from_graphs(graphs)
    display.figure_.canvas.draw()
    names = list(nodes(display.ax_))
    assert names[:2] == ["$x^2", "a b"]
    assert names[2].endswith("…")


def test_a_graph_without_edges():
    for graphs in (PreferenceGraphs.from_rankings([[nan, nan]]), PreferenceGraphs.from_rankings([[1, 1]])):
        for cut in (None, "domination"):
            display = PreferenceGraphDisplay.from_graphs(graphs, decomposition=cut, ranks=[1, 2])
            display.figure_.canvas.draw()
            assert display.error is None
            assert display.ax_.get_title().endswith(": no edges")
            assert not any(arrows(ax) for ax in display.axes_)
    empty = PreferenceGraphs.from_pairs([1], [0], [1], n_instances=2, n_labels=3)
    assert not arrows(PreferenceGraphDisplay.from_graphs(empty).ax_)


# --- Its subgraphs


@pytest.mark.parametrize("name", FOUR)
def test_the_panels_of_figure_2(figure_2, name):
    failed, total = FOUR[name]
    display = PreferenceGraphDisplay.from_graphs(figure_2, decomposition=name, ranks=[1, 2, 3, 4, 5])
    whole, *panels = display.axes_
    assert len(panels) == total
    assert len(arrows(whole)) == sum(len(arrows(panel)) for panel in panels) == 8
    assert sum(bool(dashed(panel)) for panel in panels) == failed
    framed = [panel for panel in panels if to_hex(panel.spines["top"].get_edgecolor()) == "#d55e00"]
    assert framed == [panel for panel in panels if dashed(panel)]
    assert display.ax_.get_title() == f"{name}: {failed} of {total}"
    assert display.error == generalized_error(figure_2, [[1, 2, 3, 4, 5]], name)
    for panel in panels:  # only the labels of the subgraph are named, at the places of the whole graph
        assert set(nodes(panel)) == {name for edge in ends(panel) for name in edge}


def test_panels_lie_inside_their_axes_and_apart(figure_2):
    display = PreferenceGraphDisplay.from_graphs(figure_2, decomposition="disagreement")
    display.figure_.canvas.draw()
    boxes = [panel.get_window_extent() for panel in display.axes_]
    around = display.ax_.get_window_extent().padded(1)
    for i, box in enumerate(boxes):
        assert around.containsx(box.x0)
        assert around.containsx(box.x1)
        assert around.containsy(box.y0)
        assert around.containsy(box.y1)
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_a_function_and_weights_of_subgraphs(figure_2):
    def two(graph):
        return [Subgraph.of_edges(graph.edges[:3], weight=3.0), Subgraph.of_edges(graph.edges[4:5])]

    display = PreferenceGraphDisplay.from_graphs(figure_2, decomposition=two, ranks=[1, 2, 3, 4, 5])
    assert display.ax_.get_title() == "two: 1 of 4"
    assert display.error == generalized_error(figure_2, [[1, 2, 3, 4, 5]], two)
    assert "× 3" in [text.get_text() for text in display.axes_[1].texts]
    weighted = PreferenceGraphDisplay.from_graphs(figure_2, decomposition=EdgeWeighted(domination))
    assert weighted.ax_.get_title() == "domination, weighted by edges: 4 subgraphs"


@given(st.integers(0, 10**6), st.sampled_from([*FOUR, "levels"]), st.booleans())
@settings(max_examples=8)
def test_errors_are_those_of_the_metrics(seed, name, weighted):
    rng = np.random.default_rng(seed)
    y = rng.integers(1, 4, size=(3, 5)).astype(float)
    y[rng.random(y.shape) < 0.2] = nan
    y[:, :2] = [1, 2]
    graphs = PreferenceGraphs.from_rankings(y)
    if weighted and name != "levels":
        graphs = PreferenceGraphs.from_pairs(*graphs.to_edges(), rng.integers(1, 5, graphs.n_edges), n_labels=5)
    ranks = rng.integers(1, 6, size=(3, 5))
    with plt.rc_context({"figure.max_open_warning": 0}):
        display = PreferenceGraphDisplay.from_graphs(graphs, 1, decomposition=name, ranks=ranks)
    assert display.error == pytest.approx(generalized_error(graphs[1], ranks[1:2], name))
    shown = sum(bool(dashed(panel)) for panel in display.axes_[1:])
    assert (shown > 0) == (display.error > 0)
    plt.close("all")


# --- Many labels


def test_many_edges_of_levels_become_arrows_from_level_to_level():
    y = np.repeat([1, 2, 3], [3, 10, 17])[None]
    display = PreferenceGraphDisplay.from_graphs(y)
    assert len(nodes(display.ax_)) == 30
    assert len(arrows(display.ax_)) == 2
    assert display.note_ == "251 edges: each label to all labels of lower levels"
    ranks = np.arange(30)
    ranks[[0, 3]] = ranks[[3, 0]]
    display = PreferenceGraphDisplay.from_graphs(y, ranks=ranks)
    assert len(dashed(display.ax_)) == 3  # 0, 1 and 2 against 3
    assert display.ax_.get_title() == "disagreement: 3 of 251"


def test_labels_beyond_the_limit_are_counted_in_a_note():
    y = np.repeat([1, 2, 3], [3, 10, 90])[None]
    display = PreferenceGraphDisplay.from_graphs(y, decomposition="domination", max_panels=5)
    assert "+ 73 more" in nodes(display.axes_[0])
    assert display.note_.startswith("30 of 103 labels drawn; ")
    assert display.note_.endswith("; 5 of 13 subgraphs drawn")
    assert display.note_ in [text.get_text() for text in display.ax_.texts]
    assert len(display.axes_) == 6
    assert display.axes_[1].get_title() == "0 → 100 labels"


def test_of_battles_the_labels_with_most_edges_are_drawn():
    better = [0, 1, 2, 5, 5, 5]
    worse = [1, 2, 0, 0, 1, 2]
    graphs = PreferenceGraphs.from_pairs([0] * 6, better, worse, n_labels=50)
    display = PreferenceGraphDisplay.from_graphs(graphs, ranks=np.arange(50))
    assert set(nodes(display.ax_)) == {"0", "1", "2", "5"}  # the labels without any are left out
    assert display.note_ == "4 of 50 labels drawn"
    assert display.ax_.get_title() == "disagreement: 4 of 6"  # of the whole graph
    fewer = PreferenceGraphDisplay.from_graphs(graphs, max_labels=3)
    assert set(nodes(fewer.ax_)) == {"0", "1", "2"}


def test_long_names_on_a_full_circle_are_written_outside():
    n = 24
    names = [f"a long name {i}" for i in range(n)]
    graphs = PreferenceGraphs.from_pairs([0] * n, range(n), np.roll(range(n), 1), labels=names)
    display = PreferenceGraphDisplay.from_graphs(graphs)
    outside = {text.get_text(): text for text in display.ax_.texts if text.get_bbox_patch() is None}
    assert set(names) <= set(outside)
    display.figure_.canvas.draw()
    boxes = [outside[name].get_window_extent() for name in names]
    frame = display.figure_.bbox
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)


@pytest.mark.parametrize("n", [4, 12, 30])
def test_boxes_of_levels_do_not_overlap(n):
    rng = np.random.default_rng(n)
    labels = [f"label number {i}" for i in range(n)]
    graphs = PreferenceGraphs.from_rankings(rng.integers(1, 4, (1, n)), labels=labels)
    display = PreferenceGraphDisplay.from_graphs(graphs)
    display.figure_.canvas.draw()
    boxes = [text.get_bbox_patch().get_window_extent().padded(-1) for text in nodes(display.ax_).values()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_edges_pass_beside_the_labels_between():
    place = layout.layers([[0], [1], [2]], ["a", "b", "c"], 200, 150, 10)
    assert place.bend(0, 1) == 0
    assert place.bend(0, 2) != 0
    assert place.bend(0, 2, ignored=[1]) == 0


# --- How it is called


def test_ranks_of_all_instances():
    graphs = PreferenceGraphs.from_rankings([[1, 2], [2, 1]])
    ranks = np.array([[1, 2], [1, 2]])
    errors = [PreferenceGraphDisplay.from_graphs(graphs, i, ranks=ranks).error for i in (0, 1, -1)]
    assert errors == [0, 1, 1]


def test_given_axes_are_used_and_no_figure_is_made(figure_2):
    figure = mpl.figure.Figure()
    ax = figure.add_subplot()
    display = PreferenceGraphDisplay.from_graphs(figure_2, decomposition="domination", ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == []
    again = display.plot()
    assert again is display
    assert len(plt.get_fignums()) == 1
    assert display.figure_ is plt.gcf()


def test_drawing_warns_of_nothing(figure_2, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for graphs in (figure_2, [[1, 2, 2, nan]], np.arange(14)[None]):
            for cut in (None, "disagreement"):
                display = PreferenceGraphDisplay.from_graphs(graphs, decomposition=cut)
                display.figure_.savefig(tmp_path / "graph.svg")
                plt.close(display.figure_)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"ranks": [1, 2]}, ValueError, r"ranks has shape \(2,\), expected one rank for each of the 5 labels"),
        ({"ranks": [[1, 2, 3, 4, 5]] * 2}, ValueError, r"ranks has shape \(2, 5\), the graphs have \(1, 5\)"),
        ({"ranks": [1, nan, 2, 3, 4]}, ValueError, r"no rank \(NaN\) for label 2"),
        ({"decomposition": "dominion"}, ValueError, "'dominion' is not known"),
        ({"decomposition": "levels"}, ValueError, "needs layered graphs"),
        ({"instance": 1}, IndexError, "out of range"),
        ({"max_labels": 0}, ValueError, "max_labels must be at least 1, got 0"),
        ({"max_panels": 0}, ValueError, "max_panels must be at least 1, got 0"),
        ({"ax": "left"}, TypeError, "ax must be one matplotlib Axes, got str"),
    ],
)
def test_bad_input(figure_2, options, error, message):
    with pytest.raises(error, match=message):
        PreferenceGraphDisplay.from_graphs(figure_2, **options)
    assert plt.get_fignums() == []


def test_the_constructor_takes_one_graph(figure_2):
    assert PreferenceGraphDisplay([[1, 2]]).graph == PreferenceGraphs.from_rankings([[1, 2]])
    with pytest.raises(ValueError, match="must hold one instance, got 2"):
        PreferenceGraphDisplay(PreferenceGraphs.concatenate([figure_2, figure_2]))
    display = PreferenceGraphDisplay(figure_2, subgraphs=[Subgraph.of_edges([(0, 1)])], ranks=[2, 1, 3, 4, 5])
    assert display.plot().ax_.get_title() == "subgraphs: 1 of 1"


def test_without_matplotlib(figure_2, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'needs matplotlib; install it with: pip install "labelrank\[plot\]"'):
        PreferenceGraphDisplay.from_graphs(figure_2)
    with pytest.raises(ImportError, match=r"LossCurveDisplay\.plot needs matplotlib"):
        LossCurveDisplay([2.0, 1.0]).plot()
