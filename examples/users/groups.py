"""Items in groups: rank the results of new queries.

A generated log has one row per result: the query, features, and a rating. Ratings of different queries are not
comparable, so only results of the same query are compared, in `fit` and in `score`.

    python examples/users/groups.py [results.csv]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from labelrank import RankRLS, RankRLSCV
from labelrank.metrics import group_disagreement


def rank(path: Path) -> None:
    results = pd.read_csv(path, index_col="result")
    X, y, query = results.drop(columns=["query", "liked"]), results["liked"], results["query"]
    new = query.isin(query.unique()[::4])
    model = RankRLSCV(np.logspace(-3, 3, 7), {"gamma": [0.03, 0.1, 0.3]}, RankRLS(kernel="rbf"))
    model.fit(X[~new], y[~new], groups=query[~new])
    ranked = results[new].assign(score=model.predict(X[new])).sort_values("score", ascending=False)
    print(ranked.groupby("query").head(2).sort_values("query")[["query", "score"]].head(6))
    print(
        f"chosen: alpha {model.alpha_:g}, {model.best_params_}, agreement {model.best_score_:.3f} on left-out queries"
    )
    print(f"agreement on {query[new].nunique()} new queries: {model.score(X[new], y[new], groups=query[new]):.3f}")
    blind = RankRLS(model.alpha_, kernel="rbf", **model.best_params_).fit(X[~new], y[~new], groups=None)
    error = group_disagreement(y[new], blind.predict(X[new]), query[new])
    print(f"agreement of a model that compares results of different queries: {1 - error:.3f}")


def make_results(path: Path, n_queries: int) -> None:
    """Generate results with features that depend on the query and ratings by the features and a level of the query."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(n_queries), 8)
    base = rng.normal(size=(n_queries, 2))
    features = base[query] + 0.6 * rng.normal(size=(len(query), 2))
    level = 3 * np.abs(base).sum(axis=1)
    liked = np.sin(2 * features[:, 0]) - features[:, 1] + level[query] + 0.3 * rng.normal(size=len(query))
    table = pd.DataFrame({"query": [f"q{q}" for q in query], "match": features[:, 0], "age": features[:, 1]})
    table.assign(liked=liked).rename_axis("result").to_csv(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, help="a CSV file with result, query, features and liked")
    parser.add_argument("--quick", action="store_true", help="30 generated queries only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        generated = Path(folder, "results.csv")
        make_results(generated, 30 if options.quick else 150)
        rank(options.path or generated)


if __name__ == "__main__":
    main()
