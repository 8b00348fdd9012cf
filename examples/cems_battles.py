"""Preferences that no ranking holds: students who compare universities in pairs.

Reads ``pairwise/CEMSChoice.csv`` from the folder named by LABELRANK_DATA (303 students, six universities, a column per
pair: 1, 0, -1 or empty), or makes a table of the same kind, and counts what is in it: ties, gaps and cycles.

    python examples/cems_battles.py
"""

from __future__ import annotations

import argparse
import itertools
import os
from pathlib import Path

import numpy as np
import polars as pl

from labelrank import PreferenceGraphs, orders_from_ranks
from labelrank.aggregation import borda, copeland, kemeny, pair_counts

SCHOOLS = ["London", "Paris", "Milano", "StGallen", "Barcelona", "Stockholm"]


def made_up_table(n_students: int = 300) -> pl.DataFrame:
    """Answers of students who like London best, now and then contradict themselves, and skip questions."""
    rng = np.random.default_rng(0)
    liking = np.linspace(1.5, 0.0, len(SCHOOLS)) + rng.normal(size=(n_students, len(SCHOOLS)))
    columns = {}
    for a, b in itertools.combinations(range(len(SCHOOLS)), 2):
        lead = liking[:, a] - liking[:, b] + rng.logistic(scale=0.4, size=n_students)
        answers = np.where(np.abs(lead) < 0.1, 0.0, np.sign(lead))
        answers[rng.random(n_students) < 0.03] = np.nan
        columns[f"{SCHOOLS[a]}:{SCHOOLS[b]}"] = answers
    return pl.DataFrame(columns, nan_to_null=True)


def read_table() -> tuple[pl.DataFrame, str]:
    """The answers, and where they are from."""
    folder = os.environ.get("LABELRANK_DATA")
    path = Path(folder or "", "pairwise", "CEMSChoice.csv")
    if folder and path.exists():
        return pl.read_csv(path), path.name
    return made_up_table(), "a made-up table"


def has_cycle(graph: PreferenceGraphs) -> bool:
    """Whether the preferences of one instance go round in a circle: take away what nothing is preferred to."""
    edges = graph.to_edges()
    left = set(zip(edges.better.tolist(), edges.worse.tolist(), strict=True))
    while left:
        beaten = {worse for _, worse in left}
        rest = {(better, worse) for better, worse in left if better in beaten}
        if rest == left:
            return True
        left = rest
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the first 50 students only")
    quick = parser.parse_args().quick
    table, source = read_table()
    table = table.head(50) if quick else table

    graphs = PreferenceGraphs.from_pair_table(table)
    pairs = [column for column in table.columns if ":" in column]
    ties = sum(int((table[column] == 0).sum()) for column in pairs)
    gaps = sum(table[column].null_count() for column in pairs)
    n_students, n_labels = graphs.shape
    print(f"{n_students} students, {n_labels} universities ({source})")
    print(graphs)
    print(f"answers: {graphs.n_edges} preferences, {ties} ties, {gaps} empty")

    cyclic = sum(has_cycle(graph) for graph in graphs)
    layered = sum(graph.is_layered for graph in graphs)
    print(f"students with a cycle: {cyclic}; with a ranking, ties allowed: {layered}; in between: ", end="")
    print(n_students - cyclic - layered)

    counts = pair_counts(graphs)
    for name, method in {"Borda": borda, "Copeland": copeland, "Kemeny": kemeny}.items():
        ranks = method(graphs)
        against = sum(counts[b, a] for a, b in itertools.permutations(range(n_labels), 2) if ranks[a] < ranks[b])
        order = orders_from_ranks(ranks[np.newaxis, :], labels=graphs.labels)[0]
        print(f"{name:9} {' > '.join(map(str, order))}   ({against / counts.sum():.1%} of the preferences disagree)")


if __name__ == "__main__":
    main()
