"""What hypothesis draws for the Mallows model: centers, incomplete rankings, weighted samples, spreads."""

import math

from hypothesis import strategies as st

NAN = math.nan
THETAS = st.one_of(st.sampled_from([0.0, 1e-12, 1e-4, 30.0]), st.floats(0.0, 5.0))


@st.composite
def centers(draw, min_labels=1, max_labels=6):
    n = draw(st.integers(min_labels, max_labels))
    return tuple(draw(st.permutations(range(1, n + 1))))


@st.composite
def partials(draw, n, ties=False):
    """One ranking of n labels, some missing, perhaps tied."""
    ranks = st.integers(1, 4) if ties else st.nothing()
    strict = draw(st.permutations(range(1, n + 1)))
    row = draw(st.lists(ranks, min_size=n, max_size=n)) if ties else strict
    hidden = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    return [NAN if h else float(r) for r, h in zip(row, hidden, strict=True)]


@st.composite
def samples(draw, max_rows=5, max_labels=5, ties=True):
    n = draw(st.integers(1, max_labels))
    m = draw(st.integers(1, max_rows))
    rows = [draw(partials(n, ties=ties and draw(st.booleans()))) for _ in range(m)]
    weights = draw(st.lists(st.integers(0, 3), min_size=m, max_size=m))
    return rows, weights
