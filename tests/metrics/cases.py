"""Rankings and graphs with predictions, for the tests of this folder."""

import numpy as np
from hypothesis import strategies as st

from labelrank import PreferenceGraphs

NAN = np.nan


@st.composite
def tied_incomplete(draw, max_labels=6, max_rows=5):
    """True ranks with ties and NaN, predicted ranks with ties."""
    n, k = draw(st.integers(1, max_rows)), draw(st.integers(1, max_labels))
    entry = st.one_of(st.just(NAN), st.integers(1, k).map(float))
    row = st.lists(entry, min_size=k, max_size=k)
    true = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    complete = st.lists(st.integers(1, k).map(float), min_size=k, max_size=k)
    return true, np.array(draw(st.lists(complete, min_size=n, max_size=n)))


@st.composite
def cyclic(draw, max_labels=5, max_rows=4):
    """Random simple graphs, cycles and empty rows included, and predicted ranks with ties."""
    n, k = draw(st.integers(1, max_rows)), draw(st.integers(2, max_labels))
    edges = []
    for _ in range(n):
        row = []
        for a in range(k):
            for b in range(a + 1, k):
                way = draw(st.sampled_from([None, (a, b), (b, a)]))
                if way is not None:
                    row.append(way)
        edges.append(row)
    complete = st.lists(st.integers(1, k).map(float), min_size=k, max_size=k)
    pred = np.array(draw(st.lists(complete, min_size=n, max_size=n)))
    flat = [(i, a, b) for i, row in enumerate(edges) for a, b in row]
    columns = np.array(flat, dtype=int).reshape(-1, 3).T
    graphs = PreferenceGraphs.from_pairs(*columns, n_instances=n, n_labels=k)
    return edges, graphs, pred
