"""Split criteria of ranking trees by loops over votes and permutations."""

import itertools
import math

import numpy as np


def votes(graph_rows, weight, rows, n_labels):
    """N[a, b]: weight of the rows that prefer a to b; graph_rows has a list of (better, worse, votes) for each row."""
    counts = np.zeros((n_labels, n_labels))
    for i in rows:
        for a, b, v in graph_rows[i]:
            counts[a, b] += v * weight[i]
    return counts


def rank_rows(y):
    """Lists of (better, worse, votes) for `votes`, from a rank matrix."""
    k = y.shape[1]
    return [[(a, b, 1.0) for a in range(k) for b in range(k) if row[a] < row[b]] for row in y]


def pair_gini(counts):
    """Sum over pairs of N_ab N_ba / (N_ab + N_ba)."""
    total = 0.0
    for a, b in itertools.combinations(range(len(counts)), 2):
        if counts[a, b] + counts[b, a] > 0:
            total += counts[a, b] * counts[b, a] / (counts[a, b] + counts[b, a])
    return total


def vote_variance(graph_rows, weight, rows, n_labels):
    """Sum over labels and rows of the comparisons of the label times the squared distance of its lead to the mean."""
    total = 0.0
    for label in range(n_labels):
        leads, sizes = [], []
        for i in rows:
            won = sum(v for a, _, v in graph_rows[i] if a == label)
            lost = sum(v for _, b, v in graph_rows[i] if b == label)
            if won + lost > 0:
                leads.append((won - lost) / (won + lost))
                sizes.append(weight[i] * (won + lost))
        if sizes:
            mean = np.average(leads, weights=sizes)
            total += sum(size * (lead - mean) ** 2 for lead, size in zip(leads, sizes, strict=True))
    return total


def mean_distance(theta, n):
    """Mean Kendall distance to the identity under the Mallows model, over all permutations."""
    total = norm = 0.0
    for order in itertools.permutations(range(n)):
        d = sum(order[i] > order[j] for i, j in itertools.combinations(range(n), 2))
        total += d * math.exp(-theta * d)
        norm += math.exp(-theta * d)
    return total / norm


def theta(counts, prior=1.0):
    """Spread around the majority of each pair, with `prior` random rankings among the rows; by bisection."""
    n = len(counts)
    against = both = 0.0
    for a, b in itertools.combinations(range(n), 2):
        against += min(counts[a, b], counts[b, a]) + prior / 2
        both += counts[a, b] + counts[b, a] + prior
    distance = against / both * n * (n - 1) / 2
    low, high = 0.0, 20.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_distance(middle, n) > distance else (low, middle)
    return low


def value(criterion, sides, graph_rows, weight, n_labels):
    """What the tree maximizes: Σ weight · theta, or minus the pair Gini or the variance of the votes."""
    total = 0.0
    for rows in sides:
        if criterion == "vote_variance":
            total -= vote_variance(graph_rows, weight, rows, n_labels)
            continue
        counts = votes(graph_rows, weight, rows, n_labels)
        if criterion == "mallows":
            total += sum(weight[i] for i in rows) * theta(counts)
        else:
            total -= pair_gini(counts)
    return total


def splits(X, rows, categorical=()):
    """Every split of the rows in two: (left rows, right rows)."""
    found = []
    for f in range(X.shape[1]):
        missing = [i for i in rows if math.isnan(X[i, f])]
        known = [i for i in rows if not math.isnan(X[i, f])]
        for t in sorted({X[i, f] for i in known}):
            left = [i for i in known if (X[i, f] == t if f in categorical else X[i, f] <= t)]
            for with_missing in (False, True) if missing else (False,):
                inside = left + missing if with_missing else left
                outside = [i for i in rows if i not in inside]
                if inside and outside:
                    found.append((inside, outside))
    return found
