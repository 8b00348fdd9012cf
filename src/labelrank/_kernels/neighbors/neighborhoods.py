"""Loops of the nearest-neighbour rankers: votes, centres, pair counts and spreads of many neighbourhoods at once.

A neighbourhood is a row of `neighbors` (indices of training rows) and of `weights` (0: not counted), both (q, m).
Functions of many of them write into arrays with a row for each of the q queries; arguments with a row for each query
come first, so that blocks of queries can go to threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._kernels.aggregation.completion import center_of_completed
from labelrank._kernels.compile import kernel
from labelrank._kernels.pairs.votes import order_by_votes, votes_of_counts

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

_ROUNDING = 1e-10  # relative; scores that differ by less were pulled apart by the order of summation


# ---------------------------------------------------------------------------------------------------------------
# Borda votes
# ---------------------------------------------------------------------------------------------------------------


@kernel
def vote_matrix(ranks: Matrix, votes: Matrix, has_pair: Any) -> None:
    """Write the generalised Borda votes of each row, (n, k), and whether it prefers a label to another, (n,)."""
    n, k = ranks.shape
    for i in range(n):
        observed = 0
        differ = 0
        for a in range(k):
            votes[i, a] = 1.0
            observed += ranks[i, a] == ranks[i, a]
        for a in range(k):
            x = ranks[i, a]
            for b in range(a):
                y = ranks[i, b]
                less, more = x < y, x > y
                differ += less + more
                tied = 0.5 * (x == y)
                votes[i, a] += less + tied
                votes[i, b] += more + tied
        has_pair[i] = differ > 0
        if observed < k:
            for a in range(k):
                known = ranks[i, a] == ranks[i, a]
                votes[i, a] = votes[i, a] * (k + 1.0) / (observed + 1.0) if known else 0.5 * (k + 1.0)


@kernel
def kind_of_rankings(ranks: Matrix) -> int:
    """2 if all rows are complete and without ties, 1 if all are complete, 0 otherwise."""
    n, k = ranks.shape
    kind = 2
    for i in range(n):
        equal, observed = 0, 0
        for a in range(k):
            observed += ranks[i, a] == ranks[i, a]
            for b in range(a):
                equal += ranks[i, a] == ranks[i, b]
        if observed < k:
            return 0
        if equal > 0:
            kind = 1
    return kind


@kernel
def mean_votes(neighbors: Indices, weights: Matrix, out: Matrix, votes: Matrix) -> None:
    """Weighted mean of the votes of the neighbours; (k + 1)/2 for every label where no neighbour has weight."""
    q, m = neighbors.shape
    k = votes.shape[1]
    for i in range(q):
        total = 0.0
        for a in range(k):
            out[i, a] = 0.0
        for j in range(m):
            w = weights[i, j]
            if w > 0.0:
                total += w
                row = votes[neighbors[i, j]]
                for a in range(k):
                    out[i, a] += w * row[a]
        for a in range(k):
            out[i, a] = out[i, a] / total if total > 0.0 else 0.5 * (k + 1.0)


@kernel
def preference_table(ranks: Matrix, table: Any) -> None:
    """Write, for each row and pair (a, b), 2 where a is before b, 1 where they are tied, 0 otherwise.

    table : (n, k * k or more).
    """
    n, k = ranks.shape
    for i in range(n):
        for a in range(k):
            for b in range(k):
                before, tied = ranks[i, a] < ranks[i, b], ranks[i, a] == ranks[i, b]
                table[i, a * k + b] = 2 * before + tied


@kernel
def votes_of_table(neighbors: Indices, weights: Matrix, out: Matrix, table: Any) -> None:
    """:func:`votes_of_counts` of each neighbourhood, with the preferences of the training rows read from a table.

    The bytes of a row of the table come in whole words, so that eight are added at once where all weights are 1;
    entries are 2 at most, and 127 rows can be added before a byte is full.
    """
    q, m = neighbors.shape
    k = out.shape[1]
    counts = np.empty((k, k))
    flat = counts.reshape(k * k)
    words = table.view(np.uint64)
    n_words = words.shape[1]
    word = np.empty(n_words, np.uint64)
    byte = word.view(np.uint8)
    for i in range(q):
        flat[:] = 0.0
        equal = True
        for j in range(m):
            equal &= weights[i, j] == 1.0
        if equal:
            for start in range(0, m, 127):
                word[:] = 0
                for j in range(start, min(start + 127, m)):
                    r = neighbors[i, j]
                    for p in range(n_words):
                        word[p] += words[r, p]
                for p in range(k * k):
                    flat[p] += 0.5 * byte[p]
        else:
            for j in range(m):
                w = 0.5 * weights[i, j]
                if w > 0.0:
                    r = neighbors[i, j]
                    for p in range(k * k):
                        flat[p] += w * table[r, p]
        votes_of_counts(counts, out[i])


@kernel
def centers_of_votes(votes: Matrix, prior: Matrix, centers: Matrix) -> None:
    """Write ranks 1..k, most votes first; ties are broken by `prior`, (q, k), larger is better."""
    q, k = votes.shape
    order = np.empty(k, np.int64)
    for i in range(q):
        order_by_votes(votes[i], prior[i], order)
        for c in range(k):
            centers[i, order[c]] = c + 1.0


@kernel
def completed_centers(
    neighbors: Indices, weights: Matrix, prior: Matrix, centers: Matrix, ranks: Matrix, max_rounds: int
) -> None:
    """Centre of each neighbourhood of incomplete rankings, by most probable completion and Borda in turn.

    prior : (q, k), what breaks ties, larger is better.
    """
    q, m = neighbors.shape
    k = ranks.shape[1]
    rows, w, center = np.empty((m, k)), np.empty(m), np.empty(k)
    order = np.empty(k, np.int64)
    for i in range(q):
        order_by_votes(prior[i], prior[i], order)
        used = 0
        for j in range(m):
            if weights[i, j] > 0.0:
                row = ranks[neighbors[i, j]]
                # Ties go to the smaller index, so the labels are numbered in the order that breaks them.
                for c in range(k):
                    rows[used, c] = row[order[c]]
                w[used] = weights[i, j]
                used += 1
        center_of_completed(rows[:used], w[:used], center, max_rounds)
        for c in range(k):
            centers[i, order[c]] = center[c]


# ---------------------------------------------------------------------------------------------------------------
# Pair counts, spread, pair probabilities
# ---------------------------------------------------------------------------------------------------------------


@kernel
def add_pairs(
    i: int, w: float, ranks: Matrix, indptr: Indices, edges: Indices, edge_weight: Vector, counts: Matrix
) -> None:
    """Add w times the preferences of training row i to the pair counts, (k, k).

    Rankings: N_ab where a is before b, half of it on both sides where they are tied. Graphs stored as edges have
    `ranks` without columns; edges : (n_edges, 2), better and worse.
    """
    k = ranks.shape[1]
    row = ranks[i]
    for a in range(k):  # no branches: this becomes vector instructions; the diagonal is never read
        x, into = row[a], counts[a]
        for b in range(k):
            into[b] += w * (1.0 if x < row[b] else 0.0) + w * (0.5 if x == row[b] else 0.0)
    if k == 0:
        for e in range(indptr[i], indptr[i + 1]):
            counts[edges[e, 0], edges[e, 1]] += w * edge_weight[e]


@kernel
def count_pairs(
    neighbors: Indices,
    weights: Matrix,
    counts: Any,
    ranks: Matrix,
    indptr: Indices,
    edges: Indices,
    edge_weight: Vector,
) -> None:
    """Pair counts of each neighbourhood, (q, k, k); `counts` comes with zeros."""
    q, m = neighbors.shape
    for i in range(q):
        for j in range(m):
            if weights[i, j] > 0.0:
                add_pairs(neighbors[i, j], weights[i, j], ranks, indptr, edges, edge_weight, counts[i])
