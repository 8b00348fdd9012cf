"""Small problems for the checks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from labelrank._arrays import FloatArray
from labelrank.supervision import PreferenceGraphs, ranks_from_scores

N_SAMPLES, N_FEATURES, N_LABELS = 60, 3, 4
NAMES = ["tea", "milk", "water", "juice"]


def features() -> FloatArray:
    """Positive features, so that estimators that need them can be checked too."""
    return np.random.default_rng(0).random((N_SAMPLES, N_FEATURES)) * 4


def in_halves(X: FloatArray) -> sparse.csr_array:
    """CSR matrix with each entry as two halves."""
    whole = sparse.csr_array(X)
    return sparse.csr_array(
        (np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), 2 * whole.indptr), shape=whole.shape
    )


def rankings(kind: str = "complete") -> FloatArray:
    """Ranks that depend on the features, with noise: complete, with ties, or with missing labels."""
    rng = np.random.default_rng(1)
    utilities = features() @ rng.standard_normal((N_FEATURES, N_LABELS)) + rng.standard_normal((N_SAMPLES, N_LABELS))
    ranks = ranks_from_scores(utilities)
    if kind == "ties":
        ranks = np.ceil(ranks / 2)
    if kind == "missing":
        ranks[rng.random(ranks.shape) < 0.25] = np.nan
        ranks[np.isnan(ranks).sum(axis=1) > N_LABELS - 2] = [1, 2, 3, np.nan]  # every row has a pair
    return ranks


def battles() -> PreferenceGraphs:
    """Weighted pairs with cycles: no ranking agrees with all of them."""
    rng = np.random.default_rng(2)
    rows, first, second = (index.ravel() for index in np.indices((N_SAMPLES, N_LABELS, N_LABELS)))
    chosen = (first < second) & ((rng.random(len(rows)) < 0.7) | (second == 1))
    rows, first, second = rows[chosen], first[chosen], second[chosen]
    wins = rng.random(len(rows)) < 0.35
    weight = rng.integers(1, 4, len(rows))
    better, worse = np.where(wins, first, second), np.where(wins, second, first)
    return PreferenceGraphs.from_pairs(rows, better, worse, weight, n_instances=N_SAMPLES, n_labels=N_LABELS)


def supervision() -> dict[str, Any]:
    """One `y` of every kind, with a description as the key."""
    ranks = rankings()
    missing = rankings("missing")
    relevant = [{NAMES[label] for label in np.flatnonzero(row <= 2)} for row in ranks]
    kinds: dict[str, Any] = {
        "complete ranks": ranks,
        "ranks with ties": rankings("ties"),
        "ranks with missing labels": missing,
        "ranks as a list of lists": ranks.tolist(),
        "graphs of rankings": PreferenceGraphs.from_rankings(missing, labels=NAMES),
        "graphs of pairs with cycles and weights": battles(),
        "graphs of sets of relevant labels": PreferenceGraphs.from_multilabel(relevant, labels=NAMES),
        "graphs of classes": PreferenceGraphs.from_multiclass(np.argmin(ranks, axis=1), n_labels=N_LABELS),
    }
    return kinds | frames(missing)


def frames(ranks: FloatArray) -> dict[str, Any]:
    """The ranks as a frame of every installed library."""
    import narwhals as nw

    columns = dict(zip(NAMES, ranks.T, strict=True))
    found = {}
    for library in ("pandas", "polars"):
        try:
            __import__(library)
        except ImportError:
            continue
        found[f"a {library} frame"] = nw.from_dict(columns, backend=library).to_native()
    return found
