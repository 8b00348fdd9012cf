"""Nearest neighbors as one would write them down: a loop over the queries, one neighbor at a time."""

import itertools

import numpy as np


def repeat_rows(X, y, weight):
    """A weight is a number of rows."""
    rows = np.repeat(np.arange(len(X)), weight)
    return X[rows], y[rows]


def neighbors(X, query, k):
    """The k nearest rows and their distances, by sorting all of them."""
    distances = np.sqrt(((X - query) ** 2).sum(axis=1))
    nearest = np.argsort(distances, kind="stable")[:k]
    return nearest, distances[nearest]


def neighbor_weights(distances, kind):
    if kind == "distance":
        if (distances == 0).any():
            return (distances == 0).astype(float)
        return 1 / distances
    if kind == "dudani" and distances[-1] > distances[0]:
        return (distances[-1] - distances) / (distances[-1] - distances[0])
    return np.ones(len(distances))


def generalized_votes(row):
    """(m - r + 1)(n + 1)/(m + 1) for the label at rank r of m, (n + 1)/2 for a missing one; the mean over a tie."""
    n = len(row)
    seen = ~np.isnan(row)
    votes = np.full(n, (n + 1) / 2)
    for a in np.flatnonzero(seen):
        r = 1 + np.sum(row[seen] < row[a]) + (np.sum(row[seen] == row[a]) - 1) / 2
        votes[a] = (seen.sum() - r + 1) * (n + 1) / (seen.sum() + 1)
    return votes


def pair_counts(rows, weights):
    """N_ab, a tied pair half on each side."""
    n = rows.shape[1]
    counts = np.zeros((n, n))
    for row, w in zip(rows, weights, strict=True):
        for a, b in itertools.permutations(range(n), 2):
            counts[a, b] += w * (row[a] < row[b]) + 0.5 * w * (row[a] == row[b])
    return counts


def share_votes(counts):
    n = len(counts)
    votes = np.ones(n)
    for a, b in itertools.permutations(range(n), 2):
        both = counts[a, b] + counts[b, a]
        votes[a] += counts[a, b] / both if both > 0 else 0.5
    return votes


def strict_ranks(votes, prior):
    """Ranks by rounded votes, then by `prior`, then by index."""
    order = sorted(range(len(votes)), key=lambda a: (-round(votes[a], 9), -round(prior[a], 9), a))
    ranks = np.empty(len(votes))
    ranks[order] = np.arange(1, len(votes) + 1)
    return ranks


def center(X, y, query, k, kind="uniform", sample_weight=None):
    """Center of the Mallows model of the k nearest rankings: Borda, by the shares of pairs if labels are missing."""
    sample_weight = np.ones(len(X)) if sample_weight is None else sample_weight
    nearest, distances = neighbors(X, query, len(X))
    share = []
    for row in nearest:
        share.append(min(sample_weight[row], k - sum(share)))
        if sum(share) >= k:
            break
    nearest, distances = nearest[: len(share)], distances[: len(share)]
    weights = np.array(share) * neighbor_weights(distances, kind)
    prior = np.average([generalized_votes(row) for row in y], axis=0, weights=sample_weight)
    if np.isnan(y).any():
        votes = share_votes(pair_counts(y[nearest], weights))
    else:
        votes = np.average([generalized_votes(row) for row in y[nearest]], axis=0, weights=weights)
    return strict_ranks(votes, prior)


def tau(row, ranks):
    pairs = [(a, b) for a, b in itertools.permutations(range(len(row)), 2) if row[a] < row[b]]
    return np.mean([np.sign(ranks[b] - ranks[a]) for a, b in pairs]) if pairs else np.nan


def plackett_luce_loss(x, rows, weights, prior):
    """Negative log-likelihood of log weights x; each label wins and loses `prior` times against weight 1."""
    value = 0.0
    for row, w in zip(rows, weights, strict=True):
        seen = np.flatnonzero(~np.isnan(row))
        for a in seen:
            if row[a] < np.max(row[seen]):
                value -= w * (x[a] - np.log(np.sum(np.exp(x[seen[row[seen] >= row[a]]]))))
    return value - prior * np.sum(x - 2 * np.log1p(np.exp(x)))
