"""Data frames of battles."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from labelrank import (
    DecisionTreeRanker,
    DummyRanker,
    GraphRanker,
    KNeighborsRanker,
    LogLinearRanker,
    PairwiseRanker,
    PreferenceGraphs,
)
from labelrank.metrics import kendall_tau
from labelrank.pairs import pair_shares

ARENA = {
    "prompt": ["p7", "p7", "p7", "p2", "p7"],
    "model_a": ["gpt", "llama", "gpt", "qwen", "llama"],
    "model_b": ["llama", "gpt", "llama", "gpt", "gpt"],
    "winner": ["model_a", "model_b", "gpt", "tie (bothbad)", "model_a"],
}
REST = {name: values[1:] for name, values in ARENA.items()}
COLUMNS = {"a": "model_a", "b": "model_b", "winner": "winner"}


def weighted(graphs):
    edges = graphs.to_edges()
    names = graphs.labels[edges.better], graphs.labels[edges.worse]
    return list(zip(edges.instance.tolist(), *names, graphs.edge_weights().tolist(), strict=True))


@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame(ARENA), pl.DataFrame(ARENA), pd.DataFrame(ARENA, index=[3, 3, 1, 7, 0])],
)
def test_all_votes_count(frame):
    graphs = PreferenceGraphs.from_battles(frame, instance="prompt", **COLUMNS)
    tie = [(1, "gpt", "qwen", 0.5), (1, "qwen", "gpt", 0.5)]
    assert weighted(graphs) == [(0, "gpt", "llama", 3.0), (0, "llama", "gpt", 1.0), *tie]
    by_battle = PreferenceGraphs.from_battles(frame, **COLUMNS)
    assert weighted(by_battle) == [
        (0, "gpt", "llama", 1.0),
        (1, "gpt", "llama", 1.0),
        (2, "gpt", "llama", 1.0),
        (3, "gpt", "qwen", 0.5),
        (3, "qwen", "gpt", 0.5),
        (4, "llama", "gpt", 1.0),
    ]
    with pytest.warns(UserWarning, match=r"drops 1 ties of 5 battles \(first: row 3\)"):
        dropped = PreferenceGraphs.from_battles(frame, instance="prompt", ties="drop", **COLUMNS)
    assert weighted(dropped) == [(0, "gpt", "llama", 3.0), (0, "llama", "gpt", 1.0)]
    assert dropped.shape == (2, 3)
    asked = PreferenceGraphs.from_battles(
        frame, instance="prompt", instances=["p1", "p2", "p7"], labels=["qwen", "gpt", "llama"], **COLUMNS
    )
    assert asked.edge_counts().tolist() == [0, 2, 2]
    assert asked.labels.tolist() == ["qwen", "gpt", "llama"]


def test_ids_of_any_kind():
    date = datetime.date(2024, 1, 1)
    frame = pd.DataFrame({"i": [date, (1, "x"), date], "won": [1001, 7, 1001], "lost": [7, 42, 42]})
    graphs = PreferenceGraphs.from_battles(frame, instance="i", a="won", b="lost")
    assert graphs.labels.tolist() == [7, 42, 1001]
    assert weighted(graphs) == [(0, 1001, 7, 1.0), (0, 1001, 42, 1.0), (1, 7, 42, 1.0)]
    swapped = pd.DataFrame({"a": ["b", "a"], "b": ["c", "c"], "w": ["c", "a"]})  # labels are called as columns are
    assert weighted(PreferenceGraphs.from_battles(swapped, a="a", b="b", winner="w")) == [
        (0, "c", "b", 1.0),
        (1, "a", "c", 1.0),
    ]


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        (
            {"winner": ["model_a", "x", "gpt", "tie", "model_a"]},
            {},
            ValueError,
            "holds 'x' in row 1, a battle",
        ),
        ({"winner": ["model_a", None, "gpt", "tie", "model_a"]}, {}, ValueError, "holds None in row 1.*one of the two"),
        (
            {"model_a": ["model_b", *REST["model_a"]], "winner": ["model_b", *REST["winner"]]},
            {},
            ValueError,
            "row 0",
        ),
        ({"model_a": [None, *REST["model_a"]]}, {}, ValueError, "column 'model_a' has no value .* in entry 0"),
        ({"model_a": ["llama", *REST["model_a"]]}, {}, ValueError, "row 0 is a battle of 'llama' with itself"),
        ({"prompt": ["p7", None, "p7", "p2", "p7"]}, {"instance": "prompt"}, ValueError, "'prompt' has no value"),
        ({}, {"instance": "id"}, ValueError, "no column 'id', given as instance; its columns are .'prompt', 'model_a'"),
        ({}, {"instance": "prompt", "instances": ["p7"]}, ValueError, "'prompt' holds 'p2' in row 3, which is not in"),
        ({}, {"instance": "prompt", "instances": ["p7", "p2", "p7"]}, ValueError, "instances has an id twice"),
        ({}, {"instances": ["p7"]}, ValueError, "instances needs instance="),
        ({}, {"ties": "keep"}, ValueError, 'ties must be "half" or "drop"'),
        ({}, {"labels": ["gpt", "llama"]}, ValueError, "'qwen', which is not in labels"),
    ],
)
def test_bad_frames_of_battles(change, options, error, message):
    with pytest.raises(error, match=message):
        PreferenceGraphs.from_battles(pl.DataFrame({**ARENA, **change}), **COLUMNS, **options)


def test_battles_are_a_frame():
    with pytest.raises(TypeError, match=r"frame must be a data frame .*, got list; for arrays use from_pairs"):
        PreferenceGraphs.from_battles([["a", "b"]], a=0, b=1)


@pytest.mark.parametrize("per", ["instance", "battle"])
def test_three_to_one_is_no_certainty(per):
    battles = pd.DataFrame({"won": ["x", "x", "x", "y"], "lost": ["y", "y", "y", "x"], "i": [0] * 4})
    y = PreferenceGraphs.from_battles(battles, a="won", b="lost", instance="i" if per == "instance" else None)
    X = np.ones((len(y), 1))
    if per == "instance":
        X, y = np.ones((2, 1)), PreferenceGraphs.concatenate([y, y])
    for ranker in (
        LogLinearRanker(alpha=1e-6, tol=1e-8),
        LogLinearRanker("disagreement", alpha=1e-6, tol=1e-8),
        PairwiseRanker(),
        DecisionTreeRanker(),
        KNeighborsRanker(2 if per == "instance" else 4),
        GraphRanker(loss="squared", alpha=1e-6),
        DummyRanker(),
    ):
        fitted = ranker.fit(X, y)
        assert fitted.predict(X).tolist() == [[1, 2]] * len(X)
        if hasattr(fitted, "pairwise_proba") and not isinstance(fitted, GraphRanker | KNeighborsRanker):
            assert fitted.pairwise_proba(X)[0, 0, 1] == pytest.approx(0.75, abs=0.05)  # trees smooth
    proba = LogLinearRanker(alpha=1e-6, tol=1e-8).fit(X, y).pairwise_proba(X)[0, 0, 1]
    assert proba == pytest.approx(0.75, abs=1e-3)
    assert pair_shares(y.pair_counts())[0, 1] == 0.75
    assert kendall_tau(y, np.tile([1.0, 2.0], (len(y), 1))) == 0.5


@pytest.mark.parametrize(
    "winner",
    [
        pd.array(["x", pd.NA], dtype="string"),
        np.array(["x", pd.NA], dtype=object),
        ["x", None],
        np.array(["x", np.nan], dtype=object),
    ],
    ids=["string", "object", "None", "NaN"],
)
def test_a_winner_that_is_missing_may_be_a_tie(winner):
    frame = pd.DataFrame({"a": ["x", "x"], "b": ["y", "y"], "winner": winner})
    with pytest.raises(ValueError, match=r'holds None in row 1.*if it was one, fill the column with "tie"'):
        PreferenceGraphs.from_battles(frame, a="a", b="b", winner="winner")
    filled = frame.fillna({"winner": "tie"})
    assert PreferenceGraphs.from_battles(filled, a="a", b="b", winner="winner").n_edges == 3


def test_columns_with_names_that_are_no_texts():
    frame = pd.DataFrame([["x", "y", "y"]])
    graphs = PreferenceGraphs.from_battles(frame, a=0, b=1, winner=2)
    assert graphs.labels[graphs.better].tolist() == ["y"]
    frame.columns = pd.MultiIndex.from_tuples([("model", "a"), ("model", "b"), ("result", "winner")])
    names = {"a": ("model", "a"), "b": ("model", "b"), "winner": ("result", "winner")}
    assert PreferenceGraphs.from_battles(frame, **names) == graphs


def test_ids_are_names_and_never_columns():
    frame = pd.DataFrame({"a": [1], "b": [2]})
    with pytest.raises(ValueError, match=r"name the label 1, which is not in labels=\['1', '2', '3'\]"):
        PreferenceGraphs.from_battles(frame, a="a", b="b", labels=["1", "2", "3"])
    assert PreferenceGraphs.from_battles(frame, a="a", b="b", labels=[2, 1]).better.tolist() == [1]
