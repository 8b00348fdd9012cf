"""Literal twins of labelrank.aggregation.mallows: sums over all permutations, and the paper's scheme line by line."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction


def all_rankings(n):
    """All rankings of n labels, as tuples of ranks."""
    return list(itertools.permutations(range(1, n + 1)))


def distance(ranks, center):
    """Kendall's distance: pairs that are in a different order; a tied pair is 1/2."""
    total = 0.0
    for a, b in itertools.combinations(range(len(center)), 2):
        here, there = ranks[a] - ranks[b], center[a] - center[b]
        total += 0.5 if here == 0 else float(here * there < 0)
    return total


def probabilities(center, theta):
    """{ranking: probability}"""
    weights = {r: math.exp(-theta * distance(r, center)) for r in all_rankings(len(center))}
    phi = math.fsum(weights.values())
    return {r: w / phi for r, w in weights.items()}


def normalizer(theta, n):
    return math.fsum(math.exp(-theta * distance(r, range(n))) for r in all_rankings(n))


def mean_distance(theta, n):
    center = tuple(range(1, n + 1))
    return math.fsum(p * distance(r, center) for r, p in probabilities(center, theta).items())


def pairwise_proba(center, theta):
    n = len(center)
    p = [[0.5] * n for _ in range(n)]
    table = probabilities(center, theta)
    for a, b in itertools.permutations(range(n), 2):
        p[a][b] = math.fsum(q for r, q in table.items() if r[a] < r[b])
    return p


def pair_probability(m, theta):
    """P(a before b), a m places before b in the center, as it is printed: h(m + 1) - h(m)."""
    if theta == 0:
        return 0.5

    def h(j):
        return j / (1 - math.exp(-j * theta))

    return h(m + 1) - h(m)


def extends(ranks, partial):
    """Whether a complete ranking has all preferences of a partial one (comparisons with NaN are false)."""
    pairs = itertools.permutations(range(len(partial)), 2)
    return all(ranks[a] < ranks[b] for a, b in pairs if partial[a] < partial[b])


def probability_of_extensions(partial, center, theta):
    return math.fsum(p for r, p in probabilities(center, theta).items() if extends(r, partial))


def smallest_distance_of_an_extension(partial, center):
    return min(distance(r, center) for r in all_rankings(len(center)) if extends(r, partial))


def most_probable_extension(partial, center):
    """Insert each missing label on its own at the first best place; labels of one place in the order of the center."""
    groups = sorted({rank for rank in partial if not math.isnan(rank)})
    places = [[] for _ in range(len(groups) + 1)]  # labels that stand after j groups
    for i, rank in enumerate(partial):
        if math.isnan(rank):
            costs = []
            for j in range(len(groups) + 1):
                before = [k for k, r in enumerate(partial) if r in groups[:j]]
                after = [k for k, r in enumerate(partial) if r in groups[j:]]
                costs.append(sum(center[k] > center[i] for k in before) + sum(center[k] < center[i] for k in after))
            places[costs.index(min(costs))].append(i)
    blocks = []
    for j, place in enumerate(places):
        blocks += [[i] for i in sorted(place, key=lambda i: center[i])]
        if j < len(groups):
            blocks.append([k for k, r in enumerate(partial) if r == groups[j]])
    ranks, placed = [0.0] * len(partial), 0
    for block in blocks:
        for label in block:
            ranks[label] = placed + 1.0
        placed += len(block)
    return ranks


def votes(row):
    """Generalized Borda votes of one ranking, exact."""
    n = len(row)
    ranked = sorted(rank for rank in row if not math.isnan(rank))
    m = len(ranked)
    result = []
    for rank in row:
        if math.isnan(rank):
            result.append(Fraction(n + 1, 2))
        else:
            positions = [p for p, other in enumerate(ranked, start=1) if other == rank]
            result.append((m - Fraction(sum(positions), len(positions)) + 1) * Fraction(n + 1, m + 1))
    return result


def borda_center(rows, weights, tie_break=None):
    """Ranks by the votes, ties by the votes `tie_break`, then by the label; and the votes."""
    n = len(rows[0])
    total = [sum(Fraction(w) * votes(row)[a] for row, w in zip(rows, weights, strict=True)) for a in range(n)]
    tie_break = total if tie_break is None else tie_break
    order = sorted(range(n), key=lambda a: (-total[a], -tie_break[a], a))
    return tuple(order.index(a) + 1 for a in range(n)), total


def iterated_center(rows, weights):
    """The scheme for incomplete rankings: (center, number of completions, mean distance of the completed rankings)."""
    used = [(r, w) for r, w in zip(rows, weights, strict=True) if w and sum(not math.isnan(x) for x in r) >= 2]
    n = len(rows[0])
    if not used:
        return tuple(range(1, n + 1)), 0, n * (n - 1) / 4
    rows, weights = [r for r, _ in used], [w for _, w in used]
    center, initial = borda_center(rows, weights)
    rounds, before = 0, None
    while center != before and any(math.isnan(rank) for row in rows for rank in row):
        rounds, before = rounds + 1, center
        completed = [most_probable_extension(row, center) for row in rows]
        center, _ = borda_center(completed, weights, initial)
    completed = [most_probable_extension(row, center) for row in rows]
    far = [w * distance(r, center) for r, w in zip(completed, weights, strict=True)]
    return center, rounds, math.fsum(far) / math.fsum(weights)


def reversed_pairs(counts, center, theta):
    """Weight of the pairs that disagree with the center, and what is expected of as many pairs in the model."""
    found = expected = 0.0
    for a, b in itertools.permutations(range(len(center)), 2):
        if center[a] < center[b]:
            found += counts[b][a]
            p = 1.0 if theta == math.inf else pair_probability(center[b] - center[a], theta)
            expected += (counts[a][b] + counts[b][a]) * (1 - p)
    return found, expected
