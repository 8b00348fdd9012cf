"""Grid search over learners and their parameters, with an unbiased estimate of the score of the best.

The best score of a grid is optimistic, because it is a maximum. Therefore the whole search is cross-validated, and the
model that it selects is scored on held-out rows.

    python examples/users/grid_search.py [rankings.csv]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import polars as pl
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelrank import KNeighborsRanker, LogLinearRanker, predict_frame
from labelrank.datasets import load_wine_rankings, read_csv
from labelrank.metrics import get_scorers


def search(path: Path) -> None:
    data = read_csv(path, as_frame=True)
    X, y = data.data, data.target
    pipeline = make_pipeline(StandardScaler(), LogLinearRanker())
    grid = [
        {"loglinearranker": [LogLinearRanker()], "loglinearranker__alpha": [0.1, 1.0, 10.0]},
        {"loglinearranker": [KNeighborsRanker()], "loglinearranker__n_neighbors": [5, 10, 20]},
    ]
    model = GridSearchCV(pipeline, grid, cv=KFold(5, shuffle=True, random_state=0))
    honest = cross_validate(model, X, y, cv=KFold(5, shuffle=True, random_state=1), scoring=get_scorers("kendall_tau"))
    model.fit(X, y)
    print(predict_frame(model, X, kind="order").head())
    print(f"best parameters: tau {model.best_score_:.3f}, {model.best_params_}")
    print(f"the whole search, cross-validated: tau {honest['test_kendall_tau'].mean():.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, help="a CSV file with columns rank_* (default: wine)")
    parser.add_argument("--quick", action="store_true", help="every second row only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "wine.csv")
        wine = load_wine_rankings(as_frame=True)
        ranks = pl.DataFrame(wine.target).rename(lambda name: f"rank_{name}")
        table = pl.concat([pl.DataFrame(wine.data), ranks], how="horizontal")
        table[:: 2 if options.quick else 1].write_csv(made)
        search(options.path or made)


if __name__ == "__main__":
    main()
