"""Files of a small problem, a model of it, and the command as tests call it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from labelrank.cli.app import app
from labelrank.datasets import make_label_ranking

LABELS = ["tea", "milk", "water", "cola"]


def invoke(*arguments, status=0, **options):
    """Run a command in this process; return what it printed."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], **options)
    assert result.exit_code == status, (result.output, result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture(scope="session")
def frame():
    """Numbers with missing values, a category, an identifier, and scores of four labels."""
    X, _, utilities = make_label_ranking(160, 3, n_labels=4, return_utilities=True, random_state=0)
    rng = np.random.default_rng(0)
    age = pl.Series("age", np.where(rng.random(160) < 0.1, np.nan, X[:, 0])).fill_nan(None)
    features = {"id": [f"p{i}" for i in range(160)], "age": age, "size": X[:, 1], "weight": X[:, 2]}
    city = {"city": rng.choice(["Ulm", "Bonn", "Köln"], 160)}
    scores = {f"score_{name}": utilities[:, i] for i, name in enumerate(LABELS)}
    return pl.DataFrame({**features, **city, **scores})


@pytest.fixture(scope="session")
def folder(tmp_path_factory, frame):
    """train.csv, test.csv with scores, new.csv without."""
    folder = tmp_path_factory.mktemp("drinks")
    frame[:100].write_csv(folder / "train.csv")
    frame[100:].write_csv(folder / "test.csv")
    frame[100:].drop([f"score_{name}" for name in LABELS]).write_csv(folder / "new.csv")
    return folder


@pytest.fixture(scope="session")
def model(folder):
    """A linear model of train.csv."""
    path = folder / "model.lrk"
    invoke("fit", folder / "train.csv", "-o", path, "--ranker", "LogLinearRanker", "--ignore", "id")
    return path


@pytest.fixture(scope="session")
def careful_model(folder):
    """A conformal model of train.csv."""
    path = folder / "careful.lrk"
    options = ("--ranker", "KNeighborsRanker", "--set", "n_neighbors=7", "--conformal", "0.2", "--ignore", "id")
    invoke("fit", folder / "train.csv", "-o", path, *options)
    return path
