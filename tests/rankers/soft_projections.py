"""Problems for the tests of the soft-projection ranker, from the definitions."""

import warnings

import numpy as np
from oracles import decompositions as cuts
from sklearn.exceptions import ConvergenceWarning

NAN = np.nan
LAYERED = ["levels", "adjacent_levels", "all_level_pairs"]
NAMES = [*LAYERED, "disagreement", "domination", "dominated"]
tight = {"tol": 1e-10, "max_iter": 5000, "random_state": 0, "on_empty": "ignore"}


def quiet(ranker, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ranker.fit(*args, **kwargs)


def quiet_gap(ranker, *args):
    """Fit without the warning of a gap that is too large."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return ranker.fit(*args)


def sides(edges):
    return sorted({a for a, _ in edges}), sorted({b for _, b in edges})


def literal_problem(graphs, name, C, weighting="mean", gamma=None, weight=None):
    """The subgraphs (instance, A, B), the targets of A and B and the bounds, from the definitions."""
    subgraphs, gammas, bounds = [], [], []
    for i, graph in enumerate(graphs):
        if name in LAYERED:
            cut = getattr(cuts, name)(graph.to_levels().levels[0].tolist())
        else:
            cut = cuts.OF_EDGES[name](list(zip(*(e.tolist() for e in graph.to_edges()[1:]), strict=True)))
        for edges in cut:
            A, B = sides(edges)
            subgraphs.append((i, A, B))
            gammas.append(([1.0] * len(A), [0.0] * len(B)) if gamma is None else (gamma[i, A], gamma[i, B]))
            share = 1 / len(cut) if weighting == "mean" else 1.0
            bounds.append(C * share * (1.0 if weight is None else weight[i]))
    return subgraphs, gammas, bounds


def with_constant(X):
    return np.column_stack([X, np.ones(len(X))])


def coefficients(ranker):
    return np.column_stack([ranker.coef_, ranker.intercept_])
