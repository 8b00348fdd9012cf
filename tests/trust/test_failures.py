"""The worst instances of a model."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelrank import LogLinearRanker, PreferenceGraphs, SoftProjectionRanker
from labelrank.datasets import make_label_ranking
from labelrank.metrics import kendall_tau
from labelrank.trust import hardest

X, Y = make_label_ranking(100, 3, n_labels=4, concentration=1.0, random_state=0)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"], index=[f"case {i}" for i in range(100)])
RANKS = pd.DataFrame(Y, columns=["n", "s", "e", "w"])


def test_the_worst_rows_with_names_and_index():
    model = make_pipeline(StandardScaler(), LogLinearRanker()).fit(FRAME, RANKS)
    found = hardest(model, FRAME, RANKS[["w", "e", "s", "n"]], n=5)
    tau = np.array([kendall_tau(Y[[i]], model.predict(FRAME[i : i + 1])) for i in range(100)])
    assert found["tau"].tolist() == pytest.approx(np.sort(tau)[:5])
    assert tau[found["row"]] == pytest.approx(found["tau"])
    assert found.index.tolist() == [f"case {row}" for row in found["row"]]
    first = found.iloc[0]
    assert first["observed"].split(" > ") == RANKS.iloc[first["row"]].sort_values().index.tolist()
    ranks = pd.Series(model.predict(FRAME.iloc[[first["row"]]])[0], index=RANKS.columns)
    assert first["predicted"].split(" > ") == ranks.sort_values().index.tolist()
    assert found["confidence"].between(0, 1).all()


def test_ties_missing_labels_battles_and_other_frames():
    model = SoftProjectionRanker().fit(X, Y)
    y = Y.copy()
    y[:, 1:] = np.nan  # nothing to compare
    y[3] = [1, 1, np.nan, 2]
    y[4] = [2, 2, np.nan, 1]
    found = hardest(model, pl.DataFrame(X), y)
    assert isinstance(found, pl.DataFrame)
    assert set(found["observed"]) == {"0 = 1 > 3", "3 > 0 = 1"}
    assert "confidence" not in found.columns
    battles = PreferenceGraphs.from_pairs([0, 0, 0], [0, 1, 2], [1, 2, 0], n_instances=100, n_labels=4)
    assert list(hardest(model, X, battles)["observed"]) == ["0 > 1, 1 > 2, 2 > 0"]


def test_bad_arguments():
    model = LogLinearRanker().fit(X, RANKS)
    with pytest.raises(ValueError, match="'n' parameter"):
        hardest(model, X, Y, n=0)
    with pytest.raises(ValueError, match="name different labels"):
        hardest(model, X, RANKS.rename(columns={"n": "north"}))
