"""Gradient-boosted trees from the definition: exact greedy splits between all distinct values, one loop per sum."""

import math
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize


def derivatives(subgraphs, f, weight):
    """Log-linear loss of one instance given by lists of edges, its gradient, and the diagonal of its Hessian."""
    loss, gradient, curvature = 0.0, np.zeros(len(f)), np.zeros(len(f))
    for edges in subgraphs:
        powers = [math.exp(f[b] - f[a]) for a, b in edges]
        total = 1 + sum(powers)
        loss += math.log(total)
        net, both = np.zeros(len(f)), np.zeros(len(f))
        for (a, b), power in zip(edges, powers, strict=True):
            net[b] += power / total
            net[a] -= power / total
            both[a] += power / total
            both[b] += power / total
        gradient += net
        curvature += both - net**2
    scale = weight / max(len(subgraphs), 1)
    return scale * loss, scale * gradient, scale * curvature


def all_derivatives(rows, scores, weight):
    """Sum of the losses, gradients and curvatures of all instances."""
    found = [derivatives(subgraphs, f, w) for subgraphs, f, w in zip(rows, scores, weight, strict=True)]
    return sum(value for value, _, _ in found), np.array([g for _, g, _ in found]), np.array([h for _, _, h in found])


def score(g, h, rows, l2):
    """Σ_l G_l² / (H_l + λ) of some rows."""
    return sum(g[rows, j].sum() ** 2 / (h[rows, j].sum() + l2) for j in range(g.shape[1]))


def best_split(X, g, h, weight, rows, l2, min_weight):
    """Gain, feature, threshold, rows on the left and on the right of the best split of some rows, or None."""
    best = None
    for feature in range(X.shape[1]):
        x = X[rows, feature]
        values = np.unique(x[~np.isnan(x)])
        thresholds = [(a + b) / 2 for a, b in pairwise(values)]
        for threshold in [*thresholds, *([np.inf] if np.isnan(x).any() else [])]:
            for missing_left in (False, True) if np.isnan(x).any() and threshold < np.inf else (False,):
                side = np.array([missing_left if np.isnan(value) else value <= threshold for value in x])
                left, right = rows[side], rows[~side]
                if min(weight[left].sum(), weight[right].sum()) < min_weight:
                    continue
                gain = score(g, h, left, l2) + score(g, h, right, l2) - score(g, h, rows, l2)
                if gain > 1e-9 and (best is None or gain > best[0]):
                    best = (gain, feature, threshold, left, right)
    return best


def boost(X, rows, weight, n_labels, *, n_iter, learning_rate, l2, min_weight, max_leaves, max_depth=np.inf):
    """Training scores and mean losses after each iteration; `rows` has a list of subgraphs for each instance."""
    zeros = np.zeros((len(X), n_labels))
    _, _, h = all_derivatives(rows, zeros, weight)
    l2 *= 4 * h.sum() / (weight[:, None] * (h > 0)).sum()

    def constant(f):
        value, g, _ = all_derivatives(rows, zeros + f, weight)
        return value + l2 / 2 * f @ f, g.sum(axis=0) + l2 * f

    scores = zeros + minimize(constant, np.zeros(n_labels), jac=True, options={"gtol": 1e-10}).x
    losses = [all_derivatives(rows, scores, weight)[0] / weight.sum()]
    for _ in range(n_iter):
        _, g, h = all_derivatives(rows, scores, weight)
        h = np.maximum(h, 1e-3 * np.abs(g))
        leaves = [(np.arange(len(X)), 0)]
        while len(leaves) < max_leaves:
            found = [
                best_split(X, g, h, weight, leaf, l2, min_weight) if depth < max_depth else None
                for leaf, depth in leaves
            ]
            gains = [-1.0 if split is None else split[0] for split in found]
            if max(gains) < 0:
                break
            at = int(np.argmax(gains))
            depth = leaves[at][1] + 1
            leaves[at : at + 1] = [(found[at][3], depth), (found[at][4], depth)]
        for leaf, _ in leaves:
            for j in range(n_labels):
                scores[leaf, j] -= learning_rate * g[leaf, j].sum() / (h[leaf, j].sum() + l2)
        losses.append(all_derivatives(rows, scores, weight)[0] / weight.sum())
    return scores, losses
