"""Decompositions and coverings by definition: one instance, sets of edges.

A subgraph is a frozenset of edges (better, worse); a decomposition is a list of subgraphs, in no particular order.
"""

import itertools


def zero_one(edges):
    return [frozenset(edges)] if edges else []


def disagreement(edges):
    return [frozenset([edge]) for edge in edges]


def domination(edges):
    heads = {a for a, _ in edges}
    return [frozenset((a, b) for a, b in edges if a == head) for head in heads]


def dominated(edges):
    tails = {b for _, b in edges}
    return [frozenset((a, b) for a, b in edges if b == tail) for tail in tails]


def _by_level(levels):
    groups = {}
    for label, level in enumerate(levels):
        if level >= 0:
            groups.setdefault(level, []).append(label)
    return [groups[level] for level in sorted(groups)]


def levels(row):
    groups = _by_level(row)
    return [
        frozenset((a, b) for a in upper for lower in groups[i + 1 :] for b in lower)
        for i, upper in enumerate(groups[:-1])
    ]


def adjacent_levels(row):
    groups = _by_level(row)
    return [frozenset((a, b) for a in upper for b in lower) for upper, lower in itertools.pairwise(groups)]


def all_level_pairs(row):
    groups = _by_level(row)
    return [
        frozenset((a, b) for a in groups[i] for b in groups[j])
        for i in range(len(groups))
        for j in range(i + 1, len(groups))
    ]


OF_EDGES = {
    "zero_one": zero_one,
    "disagreement": disagreement,
    "domination": domination,
    "dominated": dominated,
}
OF_LEVELS = {"levels": levels, "adjacent_levels": adjacent_levels, "all_level_pairs": all_level_pairs}


def disagrees(subgraph, ranks):
    """Whether an edge is contradicted or tied."""
    return any(not ranks[a] < ranks[b] for a, b in subgraph)


def mean_weight(subgraph, weight_of):
    return sum(weight_of[edge] for edge in subgraph) / len(subgraph)


# Coverings: (weight, subgraph of the graph with the dummy label), of the relevant and the irrelevant labels.


def element(labels, relevant, dummy):
    """The edges between some labels and the dummy."""
    return frozenset((label, dummy) if label in relevant else (dummy, label) for label in labels)


def cover(name, relevant, irrelevant, weight=1):
    """Cover elements as sets of labels with their weights; empty elements left out."""
    if name == "zero_one":
        elements = [(1, {*relevant, *irrelevant})]
    elif name == "hamming":
        elements = [(1, {label}) for label in [*relevant, *irrelevant]]
    elif name == "two_sets":
        elements = [(1, set(relevant)), (1, set(irrelevant))]
    elif name == "weighted_positive":
        elements = [(weight, set(relevant)), *((1, {label}) for label in irrelevant)]
    elif name == "weighted_negative":
        elements = [(weight, set(irrelevant)), *((1, {label}) for label in relevant)]
    else:
        raise KeyError(name)
    return [(count, labels) for count, labels in elements if labels]
