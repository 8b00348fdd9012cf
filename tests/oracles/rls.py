"""Least squares on pairs, word by word: explicit graphs, explicit Laplacians, one model per group that is left out."""

import numpy as np


def adjacency(groups, weight=None, loops=True):
    """W: 1, or the product of two weights, for items of the same group."""
    groups = list(groups)
    n = len(groups)
    weight = np.ones(n) if weight is None else weight
    W = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if groups[i] == groups[j] and (loops or i != j):
                W[i, j] = weight[i] * weight[j]
    return W


def laplacian(W):
    return np.diag(W.sum(axis=1)) - W


def weigh_groups(W, groups):
    """W divided by the weight of all pairs i < j of the group."""
    groups = list(groups)
    W = W.copy()
    for group in set(groups):
        rows = [i for i, g in enumerate(groups) if g == group]
        pairs = sum(W[i, j] for i in rows for j in rows if i < j)
        W[np.ix_(rows, rows)] /= pairs if pairs else 1
    return W


def pair_loss(y, f, W):
    """Formula (4), pair by pair."""
    n = len(y)
    return sum(W[i, j] * ((y[i] - y[j]) - (f[i] - f[j])) ** 2 for i in range(n) for j in range(n)) / 2


def full_solution(K, L, y, alpha):
    """Formula (7), multiplied from the left by K⁻¹."""
    return np.linalg.solve(L @ K + alpha * np.eye(len(y)), L @ y)


def sparse_solution(K, R, L, y, alpha):
    """Formula (8)."""
    return np.linalg.solve(K[R] @ L @ K[:, R] + alpha * K[np.ix_(R, R)], K[R] @ L @ y)


def two_sided_solution(Kx, Kl, laplacians, right, alpha):
    """A of F = Kx A Kl by one dense system: L vec(F) + alpha vec(A) = right, a Laplacian for each row."""
    n, k = len(Kx), len(Kl)
    L = np.zeros((n * k, n * k))
    for i, block in enumerate(laplacians):
        L[i * k : (i + 1) * k, i * k : (i + 1) * k] = block
    A = np.linalg.solve(L @ np.kron(Kx, Kl) + alpha * np.eye(n * k), right.ravel())
    return A.reshape(n, k)


def expected_ranks(ranks):
    """Mean places among the observed labels, stretched to all labels; NaN where not observed."""
    k = len(ranks)
    seen = [r for r in ranks if not np.isnan(r)]
    places = []
    for r in ranks:
        better, equal = sum(s < r for s in seen), sum(s == r for s in seen)
        places.append(np.nan if np.isnan(r) else (better + (equal + 1) / 2) * (k + 1) / (len(seen) + 1))
    return np.array(places)


def rows_of_rankings(y, weight=None):
    """(Laplacians, right-hand side) of rank rows: all pairs of observed labels, each row divided by its labels."""
    n, k = y.shape
    weight = np.ones(n) if weight is None else weight
    laplacians, right = [], np.zeros((n, k))
    for i in range(n):
        L = np.zeros((k, k))
        target = np.nan_to_num(-expected_ranks(y[i]))
        seen = np.flatnonzero(~np.isnan(y[i]))
        for a in seen:
            for b in seen:
                if a < b:
                    e = np.zeros(k)
                    e[a], e[b] = 1, -1
                    L += np.outer(e, e) / len(seen) * weight[i]
        laplacians.append(L)
        right[i] = L @ target
    return laplacians, right


def rows_of_edges(edges, votes, shape, weight=None):
    """The same of edges (row, better, worse)."""
    n, k = shape
    weight = np.ones(n) if weight is None else weight
    laplacians, right = [np.zeros((k, k)) for _ in range(n)], np.zeros((n, k))
    labels = [{label for row, a, b in edges if row == i for label in (a, b)} for i in range(n)]
    for (i, a, b), vote in zip(edges, votes, strict=True):
        e = np.zeros(k)
        e[a], e[b] = 1, -1
        scale = weight[i] * vote / len(labels[i])
        laplacians[i] += scale * np.outer(e, e)
        right[i] += scale * (k + 1) / 3 * e
    return laplacians, right
