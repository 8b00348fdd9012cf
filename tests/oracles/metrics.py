"""Literal twins of the metrics: one instance at a time, one pair at a time, straight from the definitions."""

import itertools
import math

import numpy as np


def edges_of_ranks(row):
    """(better, worse) of one row of ranks."""
    k = len(row)
    return [(a, b) for a in range(k) for b in range(k) if row[a] < row[b]]  # False with NaN


def subgraphs(edges, kind):
    """The four decompositions of the log-linear paper, as lists of edge lists."""
    if not edges:
        return []
    if kind == "zero_one":
        return [list(edges)]
    if kind == "disagreement":
        return [[e] for e in edges]
    if kind == "domination":
        return [[e for e in edges if e[0] == v] for v in sorted({a for a, _ in edges})]
    if kind == "dominated":
        return [[e for e in edges if e[1] == v] for v in sorted({b for _, b in edges})]
    raise ValueError(kind)


def generalized_error(edge_lists, pred, kind):
    """Mean over the instances with edges of the share of subgraphs with a contradicted or tied edge."""
    shares = []
    for edges, row in zip(edge_lists, pred, strict=True):
        parts = subgraphs(edges, kind)
        if parts:
            wrong = sum(any(not row[a] < row[b] for a, b in part) for part in parts)
            shares.append(wrong / len(parts))
    return sum(shares) / len(shares)


def kendall_tau(edge_lists, pred, sample_weight=None):
    """Mean over the instances with edges of the mean of +1, -1, 0."""
    values, weights = [], []
    for i, (edges, row) in enumerate(zip(edge_lists, pred, strict=True)):
        if edges:
            signs = [1 if row[a] < row[b] else -1 if row[a] > row[b] else 0 for a, b in edges]
            values.append(sum(signs) / len(signs))
            weights.append(1.0 if sample_weight is None else sample_weight[i])
    return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)


def kendall_tau_x(true, pred):
    """Emond and Mason's matrices, entry by entry."""
    values = []
    for t, p in zip(true, pred, strict=True):
        seen = [j for j in range(len(t)) if not math.isnan(t[j])]
        if len(seen) < 2:
            continue
        total = 0
        for a, b in itertools.permutations(seen, 2):
            total += (1 if t[a] <= t[b] else -1) * (1 if p[a] <= p[b] else -1)
        values.append(total / (len(seen) * (len(seen) - 1)))
    return sum(values) / len(values)


def top_k_accuracy(true, pred, k):
    """Is one of the best observed labels among the first k, ties in the prediction counted against it?"""
    hits = []
    for t, p in zip(true, pred, strict=True):
        seen = [j for j in range(len(t)) if not math.isnan(t[j])]
        if len({t[j] for j in seen}) < 2:
            continue
        best = [j for j in seen if t[j] == min(t[i] for i in seen)]
        hits.append(any(sum(p[i] <= p[j] for i in seen) <= k for j in best))
    return sum(hits) / len(hits)


def cover_elements(y, name):
    """The five coverings of the label covering paper, as lists of label lists with repetitions."""
    positive, negative = [j for j, v in enumerate(y) if v], [j for j, v in enumerate(y) if not v]
    return {
        "zero_one": [positive + negative],
        "hamming": [[j] for j in positive + negative],
        "two_sets": [part for part in (positive, negative) if part],
        "weighted_positive": [positive] * 6 * bool(positive) + [[j] for j in negative],
        "weighted_negative": [[j] for j in positive] + [negative] * 4 * bool(negative),
    }[name]


def covering_error(Y, S, name):
    """Mean number of elements with a label on the wrong side."""
    total = 0
    for y, s in zip(Y, S, strict=True):
        total += sum(any((s[j] > 0) != bool(y[j]) for j in element) for element in cover_elements(y, name))
    return total / len(Y)


def group_disagreement(y, f, groups):
    """Equation (1), group by group, all ordered pairs of different items."""
    values = []
    for g in set(groups):
        items = [i for i in range(len(y)) if groups[i] == g]
        if len(items) > 1:
            total = sum(
                abs(np.sign(y[i] - y[j]) - np.sign(f[i] - f[j])) / 2 for i, j in itertools.permutations(items, 2)
            )
            values.append(total / (len(items) * (len(items) - 1)))
    return sum(values) / len(values)
