"""Rankings and battles for the tests of this folder."""

from hypothesis import strategies as st

from labelrank import PreferenceGraphs

NAN = float("nan")


@st.composite
def rank_matrices(draw, max_labels=6, max_rows=8):
    """Rank matrices with ties and missing labels, and integer weights (None: no weights)."""
    k = draw(st.integers(1, max_labels))
    n = draw(st.integers(1, max_rows))
    entry = st.one_of(st.integers(1, k).map(float), st.just(NAN))
    rows = draw(st.lists(st.lists(entry, min_size=k, max_size=k), min_size=n, max_size=n))
    weights = draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return rows, k, weights


@st.composite
def battles(draw, max_labels=6, max_rows=5):
    k = draw(st.integers(2, max_labels))
    n = draw(st.integers(1, max_rows))
    edges = []
    for i in range(n):
        for a in range(k):
            for b in range(a + 1, k):
                side = draw(st.sampled_from([-1, 0, 1]))
                if side:
                    edges.append((i, a, b, draw(st.integers(1, 3))) if side > 0 else (i, b, a, draw(st.integers(1, 3))))
    weights = draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return edges, n, k, weights


def graphs_of(edges, n, k):
    columns = list(zip(*edges, strict=True)) if edges else [[], [], [], []]
    return PreferenceGraphs.from_pairs(*columns, n_instances=n, n_labels=k)


def preference_order(scores):
    return sorted(range(len(scores)), key=lambda label: (-scores[label], label))


def battle_graphs(rng, k):
    """One instance per pair, random votes: majorities in all directions."""
    edges = [(a * k + b, a, b, int(rng.integers(1, 50))) for a in range(k) for b in range(k) if a != b]
    return graphs_of(edges, k * k, k)
