"""Borda votes of rankings and of pair counts, and the order of the labels by votes."""

from __future__ import annotations

import numpy as np

from labelrank._kernels.compile import kernel

_ROUNDING = 1e-10  # relative; smaller differences of votes are rounding errors of sums
_MANY = 64  # with more labels, sorting is faster than a loop over all pairs


@kernel
def _leads(values, order, leads):
    """Write the number of labels behind each label minus those before it; `order` sorts the values, NaN last."""
    k = values.shape[0]
    first, observed = 0, 0
    while observed < k and values[order[observed]] == values[order[observed]]:
        observed += 1
    while first < observed:
        last = first + 1
        while last < observed and values[order[last]] == values[order[first]]:
            last += 1
        for c in range(first, last):
            leads[order[c]] = observed - last - first
        first = last


@kernel
def votes_of_rankings(values, votes):
    """Write the generalized Borda votes of each ranking, (m - r + 1)(k + 1)/(m + 1) for rank r among m labels.

    values : (n, k), NaN is not observed; votes : (n, k). A label with b labels below it and c above, of the m that the
    row ranks, has the mean rank r = (m + 1 - b + c)/2 among the labels tied with it, and so (k + 1)/2 + (b - c)
    (k + 1)/(2 m + 2) votes. A label that was not observed has b = c = 0.
    """
    n, k = values.shape
    for i in range(n):
        observed = 0
        for a in range(k):
            votes[i, a] = 0.0
            observed += values[i, a] == values[i, a]
        if k > _MANY:
            _leads(values[i], np.argsort(values[i]), votes[i])
        for a in range(k if k <= _MANY else 0):
            x = values[i, a]
            for b in range(a):
                y = values[i, b]
                lead = (1.0 if x < y else 0.0) - (1.0 if x > y else 0.0)
                votes[i, a] += lead
                votes[i, b] -= lead
        scale = 0.5 * (k + 1.0) / (observed + 1.0)
        for a in range(k):
            votes[i, a] = 0.5 * (k + 1.0) + scale * votes[i, a]


@kernel
def votes_of_counts(counts, out):
    """Write the Borda votes of pair counts, (k, k): 1 + Σ_b N_ab/(N_ab + N_ba), with 1/2 for an unknown pair."""
    k = counts.shape[0]
    for a in range(k):
        out[a] = 1.0
    for a in range(k):
        for b in range(a):
            both = counts[a, b] + counts[b, a]
            share = counts[a, b] / both if both > 0.0 else 0.5
            out[a] += share
            out[b] += 1.0 - share


@kernel
def votes_of_all_counts(counts, out):
    """Write :func:`votes_of_counts` of each matrix of `counts`, (q, k, k), to `out`, (q, k)."""
    for i in range(counts.shape[0]):
        votes_of_counts(counts[i], out[i])


@kernel
def order_by_votes(votes, initial, order):
    """Write the labels to `order`, most votes first; ties are broken by the votes `initial`, then by index."""
    k = votes.shape[0]
    largest = 1.0
    for a in range(k):
        largest = max(largest, abs(votes[a]), abs(initial[a]))
    rounding = _ROUNDING * largest
    for a in range(k):
        order[a] = a
    if k > _MANY:  # then hardly any label is left to move
        order[:] = np.argsort(-initial, kind="mergesort")
        order[:] = order[np.argsort(-votes[order], kind="mergesort")]
    for i in range(k):
        a, place = order[i], i
        while place > 0:
            b = order[place - 1]
            more = votes[a] - votes[b]
            if abs(more) <= rounding:
                more = initial[a] - initial[b]
            if more < -rounding or (more <= rounding and b < a):
                break
            order[place] = b
            place -= 1
        order[place] = a


@kernel
def level_ties(scores):
    """Replace scores of a row, (q, k), that differ only by rounding errors with the largest of them."""
    q, k = scores.shape
    order = np.empty(k, np.int64)
    for i in range(q):
        order_by_votes(scores[i], scores[i], order)
        above = scores[i, order[0]]
        for c in range(1, k):
            a = order[c]
            now = scores[i, a]
            if above - now <= _ROUNDING * max(1.0, abs(above)):
                scores[i, a] = scores[i, order[c - 1]]
            above = now
