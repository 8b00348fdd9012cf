"""Literal definitions of slacks, partial orders and conformal thresholds."""

from __future__ import annotations

import itertools

import numpy as np


def slack_of_edges(edges, scores):
    """Largest amount by which the scores contradict an edge (better, worse)."""
    return max([0.0, *(scores[worse] - scores[better] for better, worse in edges)])


def threshold_by_definition(slacks, alpha):
    """The smallest t such that at most alpha (n + 1) - 1 of the n slacks are larger; infinity if there is none."""
    n = len(slacks)
    for t in sorted([0.0, *slacks]):
        if sum(s > t for s in slacks) + 1 <= alpha * (n + 1) + 1e-9:
            return t
    return np.inf


def is_strict_partial_order(pairs):
    """Whether a set of pairs (a, b) is asymmetric and transitive."""
    pairs = set(pairs)
    asymmetric = all((b, a) not in pairs for a, b in pairs)
    transitive = all((a, d) in pairs for (a, b), (c, d) in itertools.product(pairs, pairs) if b == c)
    return asymmetric and transitive


def pairs_by_row(graphs):
    """Edges of each instance as a list of sets."""
    edges = graphs.to_edges()
    found = [set() for _ in range(len(graphs))]
    for i, a, b in zip(edges.instance, edges.better, edges.worse, strict=True):
        found[i].add((int(a), int(b)))
    return found
