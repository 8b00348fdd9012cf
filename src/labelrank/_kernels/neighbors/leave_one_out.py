"""Leave-one-out over the number of neighbours: one walk down each sorted list of neighbours scores all candidates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from labelrank._kernels.compile import kernel
from labelrank._kernels.neighbors.neighborhoods import add_pairs
from labelrank._kernels.pairs.votes import order_by_votes, votes_of_counts

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

UNIFORM, DISTANCE, DUDANI = 0, 1, 2
_ROUNDING = 1e-10  # relative, as for the scores of a prediction


@kernel
def _factor(kind: int, distance: float, nearest: float) -> float:
    """Weight of a neighbour by its distance, and 0 beyond neighbours at distance zero; 1 with Dudani's weights."""
    if kind != DISTANCE:
        return 1.0
    if nearest == 0.0:
        return 1.0 if distance == 0.0 else 0.0
    return 1.0 / distance


@kernel
def _places(votes: Vector, prior: Vector, strict: bool, order: Indices, places: Vector) -> None:
    """Ranks by votes: without ties, decided by `prior`, or with what is equal up to rounding tied."""
    k = votes.shape[0]
    order_by_votes(votes, prior, order)
    for c in range(k):
        a = order[c]
        places[a] = c + 1.0
        if not strict and c > 0:
            above = votes[order[c - 1]]
            if above - votes[a] <= _ROUNDING * max(1.0, abs(above)):
                places[a] = places[order[c - 1]]


@kernel
def tau(i: int, places: Vector, ranks: Matrix, indptr: Indices, edges: Indices, edge_weight: Vector) -> float:
    """Kendall's tau over the observed pairs of row i, or over its edges by their weight; NaN without one."""
    k = ranks.shape[1]
    balance, total = 0.0, 0.0
    for a in range(k):
        for b in range(k):
            if ranks[i, a] < ranks[i, b]:
                total += 1.0
                balance += np.sign(places[b] - places[a])
    if k == 0:
        for e in range(indptr[i], indptr[i + 1]):
            total += edge_weight[e]
            balance += edge_weight[e] * np.sign(places[edges[e, 1]] - places[edges[e, 0]])
    return balance / total if total > 0.0 else np.nan


@kernel
def tau_of_all(
    query: Indices, places: Matrix, out: Vector, ranks: Matrix, indptr: Indices, edges: Indices, edge_weight: Vector
) -> None:
    """:func:`tau` of each row of `query`."""
    for i in range(query.shape[0]):
        out[i] = tau(query[i], places[i], ranks, indptr, edges, edge_weight)


@kernel
def loo_of_votes(
    query: Indices,
    neighbors: Indices,
    distances: Matrix,
    share: Matrix,
    prior: Matrix,
    out: Matrix,
    ranks: Matrix,
    indptr: Indices,
    edges: Indices,
    edge_weight: Vector,
    votes: Matrix,
    candidates: Indices,
    kind: int,
    strict: bool,
) -> None:
    """Tau of the Borda ranking of the nearest `candidates[c]` neighbours, (q, n_candidates), by summed votes.

    query : (q,), the rows that are predicted; share : (q, m), the weights of their neighbours, their own copy left out;
    candidates : ascending; prior : (q, k).

    With Dudani's weights (d_k - d_j)/(d_k - d_1) the votes are (d_k - d_1) sum v_j - sum (d_j - d_1) v_j, up to a
    factor: two sums serve every k.
    """
    q, m = neighbors.shape
    k = votes.shape[1]
    plain, spread, mean = np.empty(k), np.empty(k), np.empty(k)
    order, places = np.empty(k, np.int64), np.empty(k)
    for i in range(q):
        for a in range(k):
            plain[a] = 0.0
            spread[a] = 0.0
        count, total, spread_total, nearest = 0.0, 0.0, 0.0, -1.0
        c = 0
        for j in range(m):
            s = share[i, j]
            if s <= 0.0:
                continue
            d = distances[i, j]
            if nearest < 0.0:
                nearest = d
            row = votes[neighbors[i, j]]
            f = _factor(kind, d, nearest)
            while c < candidates.shape[0] and candidates[c] <= (count + s) * (1.0 + _ROUNDING):
                part = f * min(candidates[c] - count, s)  # of this neighbour
                width = d - nearest
                for a in range(k):
                    if kind == DUDANI and width > 0.0:  # the farthest neighbour has weight zero
                        mean[a] = (width * plain[a] - spread[a]) / (width * total - spread_total)
                    else:
                        mean[a] = (plain[a] + part * row[a]) / (total + part)
                _places(mean, prior[i], strict, order, places)
                out[i, c] = tau(query[i], places, ranks, indptr, edges, edge_weight)
                c += 1
            if c == candidates.shape[0]:
                break
            count += s
            total += f * s
            spread_total += (d - nearest) * s
            for a in range(k):
                plain[a] += f * s * row[a]
                spread[a] += (d - nearest) * s * row[a]


@kernel
def loo_of_pairs(
    query: Indices,
    neighbors: Indices,
    distances: Matrix,
    share: Matrix,
    prior: Matrix,
    out: Matrix,
    ranks: Matrix,
    indptr: Indices,
    edges: Indices,
    edge_weight: Vector,
    candidates: Indices,
    kind: int,
    strict: bool,
) -> None:
    """The same by summed pair counts, for incomplete rankings and for graphs stored as edges."""
    q, m = neighbors.shape
    k = prior.shape[1]
    nothing, plain, spread, counts = np.zeros((k, k)), np.empty((k, k)), np.empty((k, k)), np.empty((k, k))
    votes, order, places = np.empty(k), np.empty(k, np.int64), np.empty(k)
    for i in range(q):
        _copy(nothing, plain)
        _copy(nothing, spread)
        count, nearest = 0.0, -1.0
        c = 0
        for j in range(m):
            s = share[i, j]
            if s <= 0.0:
                continue
            d = distances[i, j]
            if nearest < 0.0:
                nearest = d
            neighbor = neighbors[i, j]
            f = _factor(kind, d, nearest)
            while c < candidates.shape[0] and candidates[c] <= (count + s) * (1.0 + _ROUNDING):
                width = d - nearest
                if kind == DUDANI and width > 0.0:  # the farthest neighbour has weight zero
                    _difference(width, plain, spread, counts)
                else:
                    _copy(plain, counts)
                    part = f * min(candidates[c] - count, s)  # of this neighbour
                    add_pairs(neighbor, part, ranks, indptr, edges, edge_weight, counts)
                votes_of_counts(counts, votes)
                _places(votes, prior[i], strict, order, places)
                out[i, c] = tau(query[i], places, ranks, indptr, edges, edge_weight)
                c += 1
            if c == candidates.shape[0]:
                break
            count += s
            add_pairs(neighbor, f * s, ranks, indptr, edges, edge_weight, plain)
            if kind == DUDANI:
                add_pairs(neighbor, (d - nearest) * s, ranks, indptr, edges, edge_weight, spread)


@kernel
def _copy(source: Matrix, target: Matrix) -> None:
    """``target[:] = source``, which takes seconds to compile."""
    for a in range(source.shape[0]):
        for b in range(source.shape[1]):
            target[a, b] = source[a, b]


@kernel
def _difference(width: float, plain: Matrix, spread: Matrix, counts: Matrix) -> None:
    """Write width plain - spread, and zero for what rounding leaves of nothing."""
    k = plain.shape[0]
    for a in range(k):
        for b in range(k):
            left = width * plain[a, b] - spread[a, b]
            counts[a, b] = left if left > 1e-13 * width * plain[a, b] else 0.0


@kernel
def priors_of_votes(query: Indices, out: Matrix, total: Vector, weight: Vector, votes: Matrix) -> None:
    """What breaks ties, (q, k): the order of the labels by the votes of all rows but one copy of the query."""
    q, k = out.shape
    left = np.empty(k)
    order = np.empty(k, np.int64)
    all_ = weight.sum()
    for i in range(q):
        w = min(weight[query[i]], 1.0)
        for a in range(k):
            left[a] = (total[a] - w * votes[query[i], a]) / max(all_ - w, 1e-300)
        order_by_votes(left, left, order)
        for c in range(k):
            out[i, order[c]] = k - c


@kernel
def priors_of_pairs(
    query: Indices,
    out: Matrix,
    total: Matrix,
    weight: Vector,
    ranks: Matrix,
    indptr: Indices,
    edges: Indices,
    edge_weight: Vector,
) -> None:
    """The same by the pair counts of all rows, (k, k)."""
    q, k = out.shape
    votes, order = np.empty(k), np.empty(k, np.int64)
    counts = np.empty((k, k))
    for i in range(q):
        _copy(total, counts)
        add_pairs(query[i], -min(weight[query[i]], 1.0), ranks, indptr, edges, edge_weight, counts)
        for a in range(k):
            for b in range(k):
                if counts[a, b] < 1e-12 * total[a, b]:  # what rounding leaves of nothing
                    counts[a, b] = 0.0
        votes_of_counts(counts, votes)
        order_by_votes(votes, votes, order)
        for c in range(k):
            out[i, order[c]] = k - c
