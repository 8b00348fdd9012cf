"""What hypothesis draws: rank matrices, graphs of edges, label trees."""

import math

import numpy as np
from hypothesis import strategies as st

from labelrank import PreferenceGraphs

RANKS = st.sampled_from([math.nan, math.nan, -2.0, 0.0, 1.0, 2.0, 2.5, 7.0])


@st.composite
def rank_matrices(draw, min_rows=0, max_rows=5, min_labels=1, max_labels=5, entries=RANKS):
    """Ranks with ties, gaps, missing labels, empty rows."""
    n, k = draw(st.integers(min_rows, max_rows)), draw(st.integers(min_labels, max_labels))
    rows = draw(st.lists(st.lists(entries, min_size=k, max_size=k), min_size=n, max_size=n))
    return np.array(rows, dtype=float).reshape(n, k)


@st.composite
def edge_rows(draw, max_rows=4, max_labels=5, both=False):
    """(sorted edges of each row, number of labels): cyclic, incomplete, empty, and now and then layered.

    With `both`, rows may have both directions of a pair.
    """
    k = draw(st.integers(1, max_labels))
    pairs = [(a, b) for a in range(k) for b in range(a + 1, k)]
    rows = []
    for _ in range(draw(st.integers(0, max_rows))):
        if draw(st.booleans()):
            ranks = draw(st.lists(RANKS, min_size=k, max_size=k))
            row = [(a, b) for a in range(k) for b in range(k) if ranks[a] < ranks[b]]
        else:
            signs = draw(st.lists(st.sampled_from([1, 0, -1, *[2] * both]), min_size=len(pairs), max_size=len(pairs)))
            row = [(a, b) for (a, b), sign in zip(pairs, signs, strict=True) if sign > 0]
            row += [(b, a) for (a, b), sign in zip(pairs, signs, strict=True) if sign in (-1, 2)]
        rows.append(sorted(row))
    return rows, k


def graphs_of(rows, n_labels, weights=None):
    """PreferenceGraphs with the edges of each row (levels are found by nobody: the storage is edges)."""
    flat = [(i, a, b) for i, row in enumerate(rows) for a, b in row]
    instance, better, worse = zip(*flat, strict=True) if flat else ((), (), ())
    weight = None if weights is None else [weights[i, a, b] for i, a, b in flat]
    return PreferenceGraphs.from_pairs(
        list(instance),
        list(better),
        list(worse),
        weight,
        n_instances=len(rows),
        n_labels=n_labels,
        conflicts="keep",
    )


@st.composite
def trees(draw, max_nodes=9):
    """{node: parent or None} of a random forest, nodes 0, 1, ... with parents before their children."""
    n = draw(st.integers(1, max_nodes))
    return {i: draw(st.one_of(st.none(), st.integers(0, i - 1))) if i else None for i in range(n)}
