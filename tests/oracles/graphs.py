"""Preference graphs by definition: one instance at a time, one edge at a time."""

import math
from collections import deque

EMPTY = -1


def edges_of_ranks(ranks):
    """Edges (better, worse) of one row of ranks: smaller is better, equal is tied, NaN is not observed."""
    found = []
    for a, rank_a in enumerate(ranks):
        for b, rank_b in enumerate(ranks):
            if not math.isnan(rank_a) and not math.isnan(rank_b) and rank_a < rank_b:
                found.append((a, b))
    return found


def edges_of_levels(levels):
    """Edges of one row of levels, -1 is absent."""
    return edges_of_ranks([math.nan if level < 0 else float(level) for level in levels])


def edges_of_set(relevant, labels):
    """Edges of one set of relevant labels."""
    return [(a, b) for a in labels for b in labels if a in relevant and b not in relevant]


def edges_by_instance(graphs):
    """Sorted edges of each instance, as the graphs list them."""
    rows = [[] for _ in range(len(graphs))]
    for instance, better, worse in zip(*(array.tolist() for array in graphs.to_edges()), strict=True):
        rows[instance].append((better, worse))
    return rows


def level_of_each_label(edges, n_labels):
    """Levels of one graph if it is layered, None if not: try the only candidate, the longest path from the top.

    A graph is layered when its labels fall into levels such that there is an edge from a to b exactly if a is on a
    better level than b. Labels without an edge are absent.
    """
    edges = set(edges)
    present = sorted({label for edge in edges for label in edge})
    level = dict.fromkeys(present, 0)
    for _ in range(len(present) + 1):  # longer paths than that go round a cycle
        for a, b in edges:
            level[b] = max(level[b], level[a] + 1)
    expected = {(a, b) for a in present for b in present if level[a] < level[b]}
    if expected != edges or any(level[a] > len(present) for a in present):
        return None
    return [level.get(label, EMPTY) for label in range(n_labels)]


def simple_edges(instance, better, worse, weight=None, conflicts="drop"):
    """Battles resolved with dictionaries: {(instance, better, worse): weight}."""
    votes = {}
    for i, a, b, w in zip(instance, better, worse, weight or [1.0] * len(better), strict=True):
        votes[i, a, b] = votes.get((i, a, b), 0.0) + w
    kept = {}
    for (i, a, b), w in votes.items():
        against = votes.get((i, b, a), 0.0)
        if a == b or (conflicts == "drop" and against) or (conflicts != "keep" and w <= against):
            continue
        kept[i, a, b] = w
    return kept


def first_conflict(instance, better, worse):
    """Position and kind of the first pair that makes a graph not simple, None if there is none."""
    seen = set()
    for at, (i, a, b) in enumerate(zip(instance, better, worse, strict=True)):
        if a == b:
            return at, "itself"
        if (i, a, b) in seen:
            return at, "repeats"
        if (i, b, a) in seen:
            return at, "earlier"
        seen.add((i, a, b))
    return None


def layers_of_tree(parent_of, labels, relevant, n_layers):
    """Layer of each label for one instance, by breadth-first search on the tree with its dummy children.

    `parent_of` maps every node to its parent, None for a node at the top; `relevant` are the nodes of the instance.
    """
    nodes = set(parent_of) | {parent for parent in parent_of.values() if parent is not None}
    children = {node: [n for n in nodes if parent_of.get(n) == node] for node in nodes}
    neighbors = {("node", node): set() for node in nodes}
    neighbors["root"] = set()

    def connect(a, b):
        neighbors.setdefault(a, set()).add(b)
        neighbors.setdefault(b, set()).add(a)

    for node in nodes:
        parent = parent_of.get(node)
        connect(("node", node), "root" if parent is None else ("node", parent))
        if children[node]:
            connect(("dummy", node), ("node", node))

    def leaf(node):
        return ("dummy", node) if children[node] else ("node", node)

    def has_relevant_descendant(node):
        return any(child in relevant or has_relevant_descendant(child) for child in children[node])

    correct = [leaf(node) for node in relevant if not has_relevant_descendant(node)]
    if not correct:
        return [EMPTY] * len(labels)
    distance = dict.fromkeys(correct, 0)
    queue = deque(correct)
    while queue:
        here = queue.popleft()
        for other in neighbors[here]:
            if other not in distance:
                distance[other] = distance[here] + 1
                queue.append(other)
    layers = []
    for label in labels:
        steps = distance[leaf(label)]
        layers.append(0 if steps == 0 else min(steps - 1, n_layers - 1))
    return layers
