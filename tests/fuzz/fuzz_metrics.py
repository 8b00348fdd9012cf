"""Fuzzer of the metrics and their scorers, against literal definitions (``tests/oracles/metric_rows.py``).

    python tests/fuzz/fuzz_metrics.py --cases 100000 --seed 0

Draws ranks with ties, gaps and extreme values, weighted graphs with cycles and both directions of a pair, sets,
costs with timeouts, items in groups, weights with zeros, as arrays, lists, frames with shuffled columns and graphs.
"""

import math
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from sklearn.base import BaseEstimator

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.runner import main
from oracles import metric_rows as rows

from labelrank import PreferenceGraphs, metrics

EXTREMES = np.array([-1e300, -1.0, -1e-300, -0.0, 0.0, 5e-324, 0.5, 1.0, 1.0 + 2**-52, 2.0, 1e16, 1e16 + 2, 1e300])


def check(rng):
    """Draw a problem and compare one of its metrics with its definition."""
    problem = rng.choice([of_rankings, of_graphs, of_sets, of_costs, of_groups], p=[0.4, 0.15, 0.2, 0.2, 0.05])
    comparisons = problem(rng)
    comparisons[rng.integers(len(comparisons))](rng)


def same(found, expected, what):
    if not (math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(found) and math.isnan(expected))):
        raise AssertionError(f"{what}: found {found}, expected {expected}")


def draw_size(rng):
    return int(rng.integers(1, 7)), int(rng.choice([1, 2, 3, 4, 7, 17], p=[0.05, 0.2, 0.25, 0.25, 0.2, 0.05]))


def draw_values(rng, shape):
    """Few different small integers, any permutation, or numbers that are hard to tell apart."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(1, 4, shape).astype(float)
    if kind == 1:
        return rng.permuted(np.tile(np.arange(1.0, shape[1] + 1), (shape[0], 1)), axis=1)
    return rng.choice(EXTREMES, shape) if kind == 2 else rng.normal(size=shape)


def draw_weight(rng, n):
    """None, and an explicit weight of each row for the definition."""
    kind = rng.integers(4)
    if kind == 0:
        return None, np.ones(n)
    if kind == 3:  # of any size, as only their ratios count
        weight = rng.integers(0, 4, n).astype(float)
        return weight * 2.0 ** int(rng.choice([-1074, -1030, -300, 300, 1021])), weight
    weight = rng.integers(0, 4, n).astype(float) if kind == 1 else rng.random(n) * 10.0 ** rng.integers(-5, 6)
    return (weight if rng.random() < 0.5 else weight.tolist()), weight


def dress(rng, matrix, names):
    """The matrix in one of its forms, and whether its columns are named; frames have them in any order."""
    kind = rng.integers(5)
    if kind == 0:
        return matrix, False
    if kind == 1:
        return matrix.tolist(), False
    order = rng.permutation(matrix.shape[1])
    columns = {names[j]: matrix[:, j] for j in order}
    if kind == 2:
        return pd.DataFrame(columns), True
    if kind == 3:
        return pl.DataFrame(columns, nan_to_null=True), True
    return np.asfortranarray(matrix), False


def dress_pair(rng, true, pred, names):
    """Both matrices; a side without names keeps the order of the other side's names if only that one has them."""
    dressed_true, named_true = dress(rng, true, names)
    dressed_pred, named_pred = dress(rng, pred, names)
    if named_true and not named_pred:
        dressed_pred = pred[:, [names.index(name) for name in dressed_true.columns]]
    elif named_pred and not named_true:
        dressed_true = true[:, [names.index(name) for name in dressed_pred.columns]]
    return dressed_true, dressed_pred


class Recorded(BaseEstimator):
    """A model that predicts what it is told, and knows the names of its labels."""

    def __init__(self, predicted, names):
        self.predicted, self.labels_ = predicted, np.array(names, dtype=object)

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.predicted

    decision_function = predict


def names_of(k):
    return [f"label {j}" for j in range(k)]


def compared(metric, definition, true, pred, literal, **arguments):
    """The comparison of a metric, or its scorer, with the weighted mean of its definition over the rows."""
    return lambda rng: compare(rng, metric, definition, true, pred, literal, arguments)


def compare(rng, metric, definition, true, pred, literal, arguments):
    names = names_of(pred.shape[1])
    given, weight = draw_weight(rng, len(pred))
    expected = rows.mean([definition(t, p) for t, p in zip(literal, pred.tolist(), strict=True)], weight.tolist())
    dressed = (true, pred) if isinstance(true, PreferenceGraphs) else dress_pair(rng, true, pred, names)
    name = getattr(metric, "__name__", "metric")
    if rng.random() < 0.5:
        same(metric(*dressed, sample_weight=given, **arguments), expected, name)
        return
    if not isinstance(true, PreferenceGraphs):
        order = rng.permutation(len(names))
        true = pd.DataFrame(true[:, order], columns=[names[j] for j in order])
    scorer = metrics.get_scorer(name, **arguments)
    same(scorer._sign * scorer(Recorded(pred, names), None, true, sample_weight=given), expected, f"scorer of {name}")


def of_rankings(rng):
    shape = draw_size(rng)
    true, pred = draw_values(rng, shape), draw_values(rng, shape)
    true[rng.random(shape) < rng.choice([0, 0.3, 0.8])] = np.nan
    k = int(rng.integers(1, shape[1] + 2))
    ranks, votes = true.tolist(), [rows.votes_of_ranks(row) for row in true.tolist()]
    if rng.random() < 0.3:
        true = PreferenceGraphs.from_rankings(true, labels=names_of(shape[1]))
    return [
        compared(metrics.kendall_tau, rows.kendall_tau, true, pred, votes),
        compared(metrics.kendall_tau_b, rows.kendall_tau_b, true, pred, ranks),
        compared(metrics.kendall_tau_x, rows.kendall_tau_x, true, pred, ranks),
        compared(metrics.spearman_rho, rows.spearman_rho, true, pred, ranks),
        compared(metrics.top_k_accuracy, partial(rows.top_k_accuracy, k=k), true, pred, ranks, k=k),
        compared(metrics.ndcg, partial(rows.ndcg, k=k), true, pred, ranks, k=k),
        *errors(true, pred, votes),
    ]


def errors(true, pred, votes):
    found = []
    for kind in ("zero_one", "disagreement", "domination", "dominated"):
        definition = partial(rows.generalized_error, kind=kind)
        found.append(compared(getattr(metrics, f"{kind}_error"), definition, true, pred, votes))
        found.append(compared(metrics.generalized_error, definition, true, pred, votes, decomposition=kind))
    return found


def of_graphs(rng):
    n, k = draw_size(rng)
    names = names_of(k)
    votes = []
    for _ in range(n):
        share = rng.random()
        pairs = [(a, b) for a in range(k) for b in range(k) if a != b and rng.random() < share]
        votes.append({pair: float(rng.choice([0.5, 1, 2, 3, 1e-6, 1e6])) for pair in pairs})
    flat = [(i, names[a], names[b], w) for i, row in enumerate(votes) for (a, b), w in row.items()]
    rng.shuffle(flat)
    columns = list(zip(*flat, strict=True)) if flat else [()] * 4
    graphs = PreferenceGraphs.from_pairs(
        np.array(columns[0], dtype=int),
        list(columns[1]),
        list(columns[2]),
        np.array(columns[3], dtype=float),
        n_instances=n,
        labels=names,
        conflicts="keep",
    )
    pred = draw_values(rng, (n, k))
    return [compared(metrics.kendall_tau, rows.kendall_tau, graphs, pred, votes), *errors(graphs, pred, votes)]


def of_sets(rng):
    n, k = draw_size(rng)
    Y = (rng.random((n, k)) < rng.random()).astype(float)
    scores = draw_values(rng, (n, k))
    known = [[bool(v) for v in row] for row in Y.tolist()]
    of_known = [
        compared(getattr(metrics, name), getattr(rows, name), Y.copy(), scores, known)
        for name in ("one_error", "coverage", "average_precision")
    ]
    Y[rng.random((n, k)) < rng.choice([0, 0.3])] = np.nan
    known = [[None if math.isnan(v) else bool(v) for v in row] for row in Y.tolist()]
    true = PreferenceGraphs.from_multilabel(Y, labels=names_of(k)) if rng.random() < 0.3 else Y
    return of_known + [
        compared(
            metrics.covering_error, partial(rows.covering_error, covering=name), true, scores, known, covering=name
        )
        for name in ("zero_one", "hamming", "two_sets", "weighted_positive", "weighted_negative")
    ]


def of_costs(rng):
    shape = draw_size(rng)
    costs, pred = np.abs(rng.normal(size=shape)) * 10.0 ** rng.integers(-3, 4), draw_values(rng, shape)
    options = {}
    if rng.random() < 0.7:
        options = {"cutoff": float(np.quantile(costs, rng.random())), "penalty": float(rng.choice([1, 2, 10]))}
        costs[rng.random(shape) < 0.2] = np.nan
        costs[rng.random(shape) < 0.1] = options["cutoff"]
    limit, penalized = options.get("cutoff", math.inf), options.get("cutoff", 0) * options.get("penalty", 0)
    paid = [[cost if cost < limit else penalized for cost in row] for row in costs.tolist()]
    return [
        compared(metrics.mean_cost, rows.chosen_cost, costs, pred, paid, **options),
        compared(metrics.regret, lambda c, p: rows.chosen_cost(c, p) - min(c), costs, pred, paid, **options),
        lambda rng: closed_gap(rng, costs, pred, paid, options),
    ]


def closed_gap(rng, costs, pred, paid, options):
    given, weight = draw_weight(rng, len(pred))
    chosen = rows.mean([rows.chosen_cost(c, p) for c, p in zip(paid, pred.tolist(), strict=True)], weight)
    every = [rows.mean(column, weight) for column in zip(*paid, strict=True)]
    best = rows.mean([min(row) for row in paid], weight)
    single = int(rng.integers(len(every))) if rng.random() < 0.5 else None
    reference = min(every) if single is None else every[single]
    found = metrics.closed_gap(costs, pred, single_best=single, sample_weight=given, **options)
    if reference == best:  # one label is the best of all instances: there is no gap
        same(found, math.nan, "closed_gap")
    elif reference - best > 1e-6 * reference or math.isnan(best):
        same(found, (reference - chosen) / (reference - best), "closed_gap")


def of_groups(rng):
    n = int(rng.integers(1, 15))
    y, f = (draw_values(rng, (1, n))[0] for _ in range(2))
    groups = rng.integers(0, rng.integers(1, 5), n)
    return [lambda rng: group_disagreement(rng, y, f, groups)]


def group_disagreement(rng, y, f, groups):
    given, weight = draw_weight(rng, len(y))
    values = []
    for g in np.unique(groups):
        of_group = np.flatnonzero(groups == g)
        values.append(rows.group_disagreement(*(x[of_group].tolist() for x in (y, f, weight))))
    names = [f"group {g}" for g in groups] if rng.random() < 0.5 else groups
    found = metrics.group_disagreement(y, f, names, sample_weight=given)
    same(found, rows.mean(values, [1.0] * len(values)), "group_disagreement")


if __name__ == "__main__":
    main(check, __doc__)
