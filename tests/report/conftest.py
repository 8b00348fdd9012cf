"""A few whole reports, which take seconds each because of their figures, shared by all tests of the folder."""

import numpy as np
import pytest
from report.pages import HOSTILE, make_tickets, ridge_report
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from labelrank import ConformalRanker, LogLinearRanker, PreferenceGraphs
from labelrank.report import build_report


@pytest.fixture(scope="session")
def tickets():
    """A pipeline on text and categories, with missing labels and hostile names everywhere."""
    X, y = make_tickets(360, 0)
    features = make_column_transformer((TfidfVectorizer(), "text"), (OneHotEncoder(), ["product"]))
    model = make_pipeline(features, LogLinearRanker(on_empty="ignore")).fit(X[:240], y[:240])
    board = [
        {"name": "linear", "mean": 0.5, "std": 0.02, "time": 1.25},
        {"name": HOSTILE, "mean": 0.7, "std": 0.01, "time": 30.0},
        {"name": "failed", "mean": float("nan"), "std": float("nan"), "time": 2.0},
    ]
    return build_report(model, X[240:], y[240:], leaderboard=board, title=f"Tickets {HOSTILE}", random_state=0)


@pytest.fixture(scope="session")
def ridge():
    """An array, a ranker without probabilities or an exact explanation."""
    return ridge_report()


@pytest.fixture(scope="session")
def battles():
    """Single pairs of four labels in a conformal ranker; some of them go round in a circle."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    row, better = np.repeat(np.arange(40), 3), np.tile([0, 1, 2], 40)
    worse = np.where(np.repeat(np.arange(40) % 4 == 0, 3), (better + 1) % 3, 3)
    graphs = PreferenceGraphs.from_pairs(row, better, worse)
    model = ConformalRanker(LogLinearRanker(), alpha=0.2, random_state=0).fit(X, graphs)
    return build_report(model, X, graphs, random_state=0, learning_curve=False)
