"""What graphs say about pairs, by definition: one instance at a time, one edge at a time."""

import numpy as np
from oracles.graphs import edges_by_instance


def weighted_edges(graphs):
    """Lists of (better, worse, weight), one per instance."""
    weights = iter(graphs.edge_weights().tolist())
    return [[(a, b, next(weights)) for a, b in row] for row in edges_by_instance(graphs)]


def pair_counts(graphs, weight):
    counts = np.zeros((graphs.shape[1],) * 2)
    for w, row in zip(weight, weighted_edges(graphs), strict=True):
        for a, b, votes in row:
            counts[a, b] += w * votes
    return counts


def pair_signs(graphs):
    n, k = graphs.shape
    signs = np.zeros((n, k, k))
    for i, row in enumerate(weighted_edges(graphs)):
        for a, b, votes in row:
            signs[i, a, b] += votes
            signs[i, b, a] -= votes
    return signs[:, *np.triu_indices(k, 1)]


def pair_totals(graphs):
    n, k = graphs.shape
    totals = np.zeros((n, k, k))
    for i, row in enumerate(weighted_edges(graphs)):
        for a, b, votes in row:
            totals[i, min(a, b), max(a, b)] += votes
    return totals[:, *np.triu_indices(k, 1)]


def concordance(graphs, ranks):
    balance, total = np.zeros(len(graphs)), np.zeros(len(graphs))
    for i, row in enumerate(weighted_edges(graphs)):
        for a, b, votes in row:
            balance[i] += votes * np.sign(ranks[i, b] - ranks[i, a])
            total[i] += votes
    return balance, total


def votes_of_ranking(ranks):
    """(m - r + 1)(k + 1)/(m + 1) for the mean rank r among m observed labels, (k + 1)/2 for a missing one."""
    k, observed = len(ranks), [r for r in ranks if r == r]
    found = []
    for rank in ranks:
        if rank != rank:
            found.append((k + 1) / 2)
            continue
        places = [1 + place for place, other in enumerate(sorted(observed)) if other == rank]
        mean = sum(places) / len(places)
        found.append((len(observed) - mean + 1) * (k + 1) / (len(observed) + 1))
    return found


def votes_of_edges(edges, k):
    """1, and for each other label the share of the votes of the pair, 1/2 if the two are not compared."""
    votes = {(a, b): weight for a, b, weight in edges}

    def share(a, b):
        won, lost = votes.get((a, b), 0), votes.get((b, a), 0)
        return won / (won + lost) if won + lost else 0.5

    return [1 + sum(share(a, b) for b in range(k) if b != a) for a in range(k)]
