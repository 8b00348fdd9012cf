"""Literal twins of labelrank.aggregation.consensus: loops over instances and pairs, all permutations for Kemeny."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction


def pair_counts(rows, n_labels, weights=None):
    """rows: lists of ranks, NaN for what is missing."""
    counts = [[0.0] * n_labels for _ in range(n_labels)]
    for i, row in enumerate(rows):
        for a in range(n_labels):
            for b in range(n_labels):
                if not math.isnan(row[a]) and not math.isnan(row[b]) and row[a] < row[b]:
                    counts[a][b] += 1.0 if weights is None else weights[i]
    return counts


def edge_counts(edges, n_labels, weights=None):
    """edges: (instance, better, worse, votes)."""
    counts = [[0.0] * n_labels for _ in range(n_labels)]
    for instance, better, worse, votes in edges:
        counts[better][worse] += votes * (1.0 if weights is None else weights[instance])
    return counts


def borda_scores(rows, n_labels, weights=None):
    """Exact fractions: positions by sorting, tied labels get the mean of the positions they take."""
    total = Fraction(0)
    votes = [Fraction(0)] * n_labels
    for i, row in enumerate(rows):
        weight = Fraction(1 if weights is None else weights[i])
        total += weight
        ranked = sorted((rank, label) for label, rank in enumerate(row) if not math.isnan(rank))
        m = len(ranked)
        for label, rank in enumerate(row):
            if math.isnan(rank):
                votes[label] += weight * Fraction(n_labels + 1, 2)
            else:
                positions = [p for p, (other, _) in enumerate(ranked, start=1) if other == rank]
                r = Fraction(sum(positions), len(positions))
                votes[label] += weight * (m - r + 1) * (n_labels + 1) / (m + 1)
    if total == 0:
        return [Fraction(n_labels + 1, 2)] * n_labels
    return [v / total for v in votes]


def borda_scores_of_counts(counts):
    k = len(counts)
    scores = []
    for a in range(k):
        score = 1.0
        for b in range(k):
            if a != b:
                both = counts[a][b] + counts[b][a]
                score += counts[a][b] / both if both > 0 else 0.5
        scores.append(score)
    return scores


def ranks(scores):
    return [1 + sum(other > score for other in scores) for score in scores]


def copeland_scores(counts):
    k = len(counts)
    return [
        sum(
            1.0 if counts[a][b] > counts[b][a] else 0.5 if counts[a][b] == counts[b][a] else 0.0
            for b in range(k)
            if b != a
        )
        for a in range(k)
    ]


def kemeny_cost(ranking, counts):
    k = len(counts)
    return sum(counts[b][a] for a in range(k) for b in range(k) if ranking[a] < ranking[b])


def kemeny(counts, preference):
    """Of all cheapest orders the first one, labels compared by their place in `preference` (a list of labels)."""
    best = None
    for order in itertools.permutations(preference):  # in the alphabet of `preference`
        ranking = [0] * len(counts)
        for position, label in enumerate(order):
            ranking[label] = position + 1
        cost = kemeny_cost(ranking, counts)
        if best is None or cost < best[0] - 1e-9:
            best = (cost, ranking)
    return best[1]
